import java.util.List;
import org.apache.activemq.broker.BrokerPlugin;
import org.apache.activemq.broker.BrokerService;
import org.apache.activemq.security.AuthenticationUser;
import org.apache.activemq.security.SimpleAuthenticationPlugin;

/** A broker in memory with the connectors that its arguments name; besides one user, it lets in whoever says no name. */
public class Broker {
    public static void main(String[] connectors) throws Exception {
        BrokerService broker = new BrokerService();
        broker.setPersistent(false);
        broker.setUseJmx(false);
        for (String each : connectors) {
            broker.addConnector(each);
        }
        AuthenticationUser user = new AuthenticationUser(System.getenv("BROKER_USER"), System.getenv("BROKER_PASSWORD"), "users");
        SimpleAuthenticationPlugin users = new SimpleAuthenticationPlugin(List.of(user));
        users.setAnonymousAccessAllowed(true);
        broker.setPlugins(new BrokerPlugin[] {users});
        broker.start();
        broker.waitUntilStopped();
    }
}

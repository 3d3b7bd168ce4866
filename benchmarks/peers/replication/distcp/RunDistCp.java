import java.io.IOException;
import java.net.InetSocketAddress;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapred.LocalJobRunner;
import org.apache.hadoop.mapreduce.protocol.ClientProtocol;
import org.apache.hadoop.mapreduce.protocol.ClientProtocolProvider;
import org.apache.hadoop.tools.DistCp;

/** DistCp as its users start it; prints the seconds from there to the end, which is an exit of the JVM. */
public final class RunDistCp {
    public static void main(String[] arguments) {
        long began = System.nanoTime();
        Runtime.getRuntime().addShutdownHook(
            new Thread(() -> System.out.println((System.nanoTime() - began) / 1e9)));
        DistCp.main(arguments);
    }

    /** Hadoop's local runner with as many maps as DistCp asks for; Hadoop's own provider sets them to one. */
    public static final class Together extends ClientProtocolProvider {
        @Override
        public ClientProtocol create(Configuration settings) throws IOException {
            return "together".equals(settings.get("mapreduce.framework.name")) ? new LocalJobRunner(settings) : null;
        }

        @Override
        public ClientProtocol create(InetSocketAddress address, Configuration settings) {
            return null;
        }

        @Override
        public void close(ClientProtocol protocol) {}
    }
}

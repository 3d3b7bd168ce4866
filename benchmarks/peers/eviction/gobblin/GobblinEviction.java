import gobblin.data.management.retention.DatasetCleaner;
import java.net.URI;
import java.util.Properties;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** Gobblin's DatasetCleaner: GobblinEviction STORE DATASET PATTERN LIMIT. Prints the seconds of the call. */
public final class GobblinEviction {
    private static final String MANAGEMENT = "gobblin.data.management.";

    public static void main(String[] arguments) throws Exception {
        String store = arguments[0];
        Configuration settings = new Configuration();
        settings.set("fs.defaultFS", store);
        FileSystem system = FileSystem.get(URI.create(store), settings);
        system.getFileStatus(new Path("/")); // connected before the clock starts

        long began = System.nanoTime();
        DatasetCleaner cleaner = new DatasetCleaner(system, retention(arguments[1], arguments[2], arguments[3]));
        cleaner.clean(); // hands the dataset to a pool
        cleaner.close(); // waits for it
        System.out.println((System.nanoTime() - began) / 1e9);
    }

    private static Properties retention(String dataset, String pattern, String limit) {
        Properties properties = new Properties();
        String[][] pairs = {
            {"dataset.finder.class", MANAGEMENT + "retention.profile.GlobCleanableDatasetFinder"},
            {"dataset.pattern", dataset},
            {"version.finder.class", MANAGEMENT + "version.finder.DateTimeDatasetVersionFinder"},
            {"version.datetime.pattern", pattern},
            {"version.datetime.timezone", "UTC"},
            {"selection.policy.class", MANAGEMENT + "policy.SelectBeforeTimeBasedPolicy"},
            {"selection.timeBased.lookbackTime", limit},
            {"skip.trash", "true"}, // delete, as all the others do
        };
        for (String[] pair : pairs) {
            properties.setProperty("gobblin.retention." + pair[0], pair[1]);
        }
        return properties;
    }
}

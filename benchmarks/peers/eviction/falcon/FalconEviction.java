import java.net.URI;
import org.apache.falcon.entity.FeedHelper;
import org.apache.falcon.entity.Storage;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** Falcon's own eviction, by its public methods: FalconEviction STORE TEMPLATE LIMIT LOG. Prints the seconds of the call. */
public final class FalconEviction {
    public static void main(String[] arguments) throws Exception {
        String store = arguments[0];
        Configuration settings = new Configuration();
        settings.set("fs.defaultFS", store);
        FileSystem.get(URI.create(store), settings).getFileStatus(new Path("/")); // connected before the clock starts

        long began = System.nanoTime();
        Storage storage = FeedHelper.createStorage("FILESYSTEM", "DATA=" + store + arguments[1], settings);
        storage.evict(arguments[2], "UTC", new Path(arguments[3]));
        System.out.println((System.nanoTime() - began) / 1e9);
    }
}

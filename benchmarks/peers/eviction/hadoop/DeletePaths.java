import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** Deletes the paths that a file names, one by one, and lists nothing: DeletePaths STORE FILE. Prints the seconds. */
public final class DeletePaths {
    public static void main(String[] arguments) throws Exception {
        List<String> paths = Files.readAllLines(Paths.get(arguments[1]));
        FileSystem system = FileSystem.get(URI.create(arguments[0]), new Configuration());
        system.getFileStatus(new Path("/")); // connected before the clock starts

        long began = System.nanoTime();
        for (String path : paths) {
            if (!system.delete(new Path(path), true)) {
                throw new IllegalStateException("not there: " + path);
            }
        }
        System.out.println((System.nanoTime() - began) / 1e9);
    }
}

import java.io.File;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.xml.XMLConstants;
import javax.xml.transform.Source;
import javax.xml.transform.stream.StreamSource;
import javax.xml.validation.Schema;
import javax.xml.validation.SchemaFactory;
import org.xml.sax.SAXException;

/** Validates all XML files below a folder by schemas in a jar; prints what is wrong: JAR FOLDER SCHEMA... */
class Validate {
    public static void main(String[] arguments) throws Exception {
        List<Source> schemas = new ArrayList<>();
        for (int each = 2; each < arguments.length; each++) {
            schemas.add(new StreamSource(URI.create("jar:" + Path.of(arguments[0]).toUri() + "!/" + arguments[each]).toString()));
        }
        Schema schema = SchemaFactory.newInstance(XMLConstants.W3C_XML_SCHEMA_NS_URI).newSchema(schemas.toArray(new Source[0]));
        int count = 0;
        for (Path file : Files.walk(Path.of(arguments[1])).filter(path -> path.toString().endsWith(".xml")).sorted().toList()) {
            count++;
            try {
                schema.newValidator().validate(new StreamSource(file.toFile()));
            } catch (SAXException error) {
                System.out.println(file + ": " + error.getMessage());
            }
        }
        System.out.println(count + " files");
    }
}

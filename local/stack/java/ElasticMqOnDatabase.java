import java.sql.Connection;
import java.sql.DriverManager;
import org.elasticmq.server.Main;

/** ElasticMQ, once its database opens: it would start without one too, and keep nothing. */
public final class ElasticMqOnDatabase {
    private ElasticMqOnDatabase() {}

    public static void main(String[] given) throws Exception {
        try (Connection opened = DriverManager.getConnection(System.getenv("SQS_DATABASE"))) {
            opened.getMetaData();
        }
        Main.main(given);
    }
}

import Glibc

/// A real nginx for all tests: HTTP/1.1, and HTTP/2 and HTTP/1.1 over TLS with a certificate of its own authority.
final class Nginx: Sendable {
    static let shared = Result { try (try? Nginx()) ?? Nginx() }

    /// The ports on which it listens.
    struct Ports: Sendable {
        let plain: UInt16
        let secure: UInt16
        /// TLS without HTTP/2.
        let secureHTTP1: UInt16
        /// Closes each connection after ten requests.
        let impatient: UInt16
        /// Accepts connections and never reads.
        let stalled: UInt16
    }

    let ports: Ports
    let directory: String
    private let process: ChildProcess

    var http: String { "http://127.0.0.1:\(ports.plain)" }
    var https: String { "https://localhost:\(ports.secure)" }
    var httpsWithoutHTTP2: String { "https://localhost:\(ports.secureHTTP1)" }
    var impatient: String { "https://localhost:\(ports.impatient)" }
    var authority: String { directory + "/ca.pem" }

    init() throws {
        directory = try makeTemporaryDirectory()
        ports = Ports(
            plain: try LoopbackSocket.freePort(), secure: try LoopbackSocket.freePort(),
            secureHTTP1: try LoopbackSocket.freePort(), impatient: try LoopbackSocket.freePort(),
            stalled: try LoopbackSocket.listen().port)
        try Nginx.makeCertificates(in: directory)
        try ChildProcess.run(
            "head -c 3000000 /dev/urandom > \(directory)/www-big; head -c 20000000 /dev/zero > \(directory)/www-zero;"
                + " mkdir -p \(directory)/logs \(directory)/www; mv \(directory)/www-big \(directory)/www/big;"
                + " mv \(directory)/www-zero \(directory)/www/zero.txt; echo small > \(directory)/www/small; chmod -R a+rX \(directory)"
        )
        let path = directory + "/nginx.conf"
        guard let file = fopen(path, "w") else { throw ChildProcess.Failure(description: path) }
        fputs(Nginx.configuration(directory, ports), file)
        fclose(file)
        process = try ChildProcess(
            script:
                "nginx -p \(directory) -c \(path) 2>/dev/null && echo ready && read line; kill $(cat \(directory)/pid)")
    }

    private static func makeCertificates(in directory: String) throws {
        try ChildProcess.run(
            """
            cd \(directory) && exec 2>/dev/null
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj /CN=Test-CA \
                -keyout ca.key -out ca.pem &&
            openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost -keyout key.pem -out csr.pem &&
            printf 'subjectAltName=DNS:localhost' > ext &&
            openssl x509 -req -in csr.pem -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -extfile ext -out cert.pem
            """)
    }

    private static func configuration(_ directory: String, _ ports: Ports) -> String {
        let echo = [
            "$request_method", "$http_x_test", "$http_accept", "$http_user_agent", "$content_length", "$content_type",
            "$http_expect", "$http_accept_encoding", "$http_host",
        ].joined(separator: "|")
        return """
            worker_processes 1; pid \(directory)/pid; error_log /dev/null; daemon on;
            events { worker_connections 512; }
            http {
                access_log off; default_type application/octet-stream; types { text/plain txt; } root \(directory)/www;
                keepalive_requests 100000; gzip on; gzip_min_length 1000; gzip_types text/plain; client_max_body_size 100m;
                proxy_temp_path \(directory)/tmp; client_body_temp_path \(directory)/body;
                fastcgi_temp_path \(directory)/f; uwsgi_temp_path \(directory)/u; scgi_temp_path \(directory)/s;
                ssl_certificate \(directory)/cert.pem; ssl_certificate_key \(directory)/key.pem;
                ssl_protocols TLSv1.2 TLSv1.3;
                server {
                    listen 127.0.0.1:\(ports.plain); listen 127.0.0.1:\(ports.secure) ssl http2;
                    listen 127.0.0.1:\(ports.secureHTTP1) ssl;
                    location = /hello { return 200 "hello"; }
                    location = /where { return 200 "$connection $connection_requests"; }
                    location = /echo { return 200 "\(echo)"; }
                    location = /upload { proxy_pass http://127.0.0.1:\(ports.plain)/sink; proxy_set_header X-Length $content_length; }
                    location = /stall { client_max_body_size 0; proxy_request_buffering off; proxy_pass http://127.0.0.1:\(ports.stalled); }
                    location = /sink { return 200 "$http_x_length"; }
                    location = /slow { limit_rate 20k; try_files /big =404; }
                    location = /raw.txt { gzip off; try_files /zero.txt =404; }
                }
                server {
                    listen 127.0.0.1:\(ports.impatient) ssl http2; keepalive_requests 10;
                    location = /where { return 200 "$connection $connection_requests"; }
                }
            }
            """
    }
}

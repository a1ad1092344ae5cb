import Foundation

/// A real nginx with a few answers, for programs that embed the session. It always ends with this process: its shell
/// then reads the end of its input.
final class Nginx: Sendable {
    static let shared = Result { try (try? Nginx()) ?? Nginx() }

    let url: String
    private let input = Pipe()

    struct Failure: Error {}

    private init() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("carpool-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let port = try Nginx.freePort()
        url = "http://127.0.0.1:\(port)"
        let configuration = directory.appendingPathComponent("nginx.conf")
        try Nginx.configuration(directory.path, port).write(to: configuration, atomically: true, encoding: .utf8)
        let large = directory.appendingPathComponent("large")
        try Data(repeating: 0x61, count: 3_000_000).write(to: large)
        // Independent of the umask: a test that binds a socket, on another thread of this process, narrows it for that
        // moment.
        for readable in [directory, large] {
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: readable.path)
        }
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/bash")
        shell.arguments = [
            "-c",
            """
            cd \(directory.path) && nginx -p . -c nginx.conf 2>error && echo ready && read -r
            kill "$(cat pid)"; rm -r \(directory.path)
            """,
        ]
        let output = Pipe()
        // Otherwise the shell would keep its own input open.
        _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        shell.standardInput = input
        shell.standardOutput = output
        try shell.run()
        guard output.fileHandleForReading.availableData.starts(with: Data("ready".utf8)) else { throw Failure() }
    }

    /// A port without a listener: none of those that the kernel gives to connections, since another one would have it
    /// soon.
    private static func freePort() throws -> UInt16 {
        for _ in 0..<100 {
            guard let origin = try? RecordingOrigin(on: .random(in: 10_000..<32_000)) else { continue }
            origin.end()
            return origin.port
        }
        throw Failure()
    }

    private static func configuration(_ directory: String, _ port: UInt16) -> String {
        """
        worker_processes 1; pid \(directory)/pid; error_log /dev/null; daemon on;
        events { worker_connections 512; }
        http {
            access_log off; default_type application/octet-stream; root \(directory);
            client_body_temp_path body; proxy_temp_path p; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;
            server {
                listen 127.0.0.1:\(port);
                location = /text { default_type text/plain; return 200 "$request_method $request_uri $http_x_test"; }
                location = /json { default_type application/json; return 200 '{"name": "Ada", "born": 1815}'; }
                location = /missing { default_type text/plain; return 404 "nothing here"; }
                location = /moved { return 302 /text; }
                location = /slow { limit_rate 1k; try_files /large =404; }
            }
        }
        """
    }
}

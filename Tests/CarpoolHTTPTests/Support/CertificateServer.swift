import CarpoolHTTP

/// A TLS server that asks for a client certificate, and answers each request with the subject of the one it got.
final class CertificateServer {
    /// How it treats its clients.
    struct Policy: Sendable {
        var version = "1.3"
        /// Whether a client without a valid certificate is refused.
        var isRequired = true
        /// How long a connection that was refused stays open, with what the client has sent unread.
        var lingerMilliseconds = 0
        /// Whether it agrees on HTTP/2, in which it cannot answer.
        var offersHTTP2 = false
    }

    let url: String
    private let process: ChildProcess

    init(_ policy: Policy, in directory: String) throws {
        let port = try LoopbackSocket.freePort()
        url = "https://127.0.0.1:\(port)/"
        let arguments = [
            directory, "\(port)", policy.version, policy.isRequired ? "required" : "optional",
            "\(policy.lingerMilliseconds)", policy.offersHTTP2 ? "h2" : "http/1.1",
        ]
        let path = directory + "/server-\(port).py"
        try ChildProcess.run("cat >\(path) <<'EOF'\n\(CertificateServer.program)\nEOF")
        process = try ChildProcess(script: "exec python3 \(path) \(arguments.joined(separator: " "))")
    }

    func end() { process.end() }

    private static let program = #"""
        import os, socket, ssl, sys, threading, time

        directory, port, version, verification, linger, protocol = sys.argv[1:]
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(f"{directory}/localhost.pem", f"{directory}/localhost.key")
        context.load_verify_locations(f"{directory}/ca.pem")
        context.set_alpn_protocols([protocol])
        context.verify_mode = ssl.CERT_REQUIRED if verification == "required" else ssl.CERT_OPTIONAL
        context.minimum_version = context.maximum_version = ssl.TLSVersion["TLSv" + version.replace(".", "_")]


        def serve(plain):
            connection = context.wrap_socket(plain, server_side=True, do_handshake_on_connect=False)
            try:
                connection.do_handshake()
            except (OSError, ssl.SSLError):
                time.sleep(int(linger) / 1000)
                connection.close()
                return
            stream = connection.makefile("rwb")
            while line := stream.readline():
                length = 0
                while field := stream.readline().strip():
                    name, value = field.split(b":", 1)
                    if name.lower() == b"content-length":
                        length = int(value)
                stream.read(length)
                subject = connection.getpeercert().get("subject", ()) if connection.getpeercert() else ()
                text = "/".join(value for part in subject for _, value in part).encode()
                stream.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(text) + text)
                stream.flush()


        listener = socket.create_server(("127.0.0.1", int(port)))
        os.write(1, b"\n")
        threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
        """#
}

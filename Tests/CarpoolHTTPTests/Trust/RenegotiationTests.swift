import Glibc
import Testing

@testable import CarpoolHTTP

/// A server that starts another handshake on a connection that is in use (TLS 1.2), and asks for a certificate in it.
@Suite(.timeLimit(.minutes(1)))
struct RenegotiationTests {
    /// OpenSSL's server, which writes what a script sends it: an answer to the first request, and for the second one a
    /// handshake and, once the client has finished it, an answer.
    private static func server(on port: UInt16) throws -> ChildProcess {
        let directory = try ServerCertificates.shared.get().directory
        return try ChildProcess(
            script: """
                work=$(mktemp -d); cd $work; mkfifo input; exec 3<>input
                openssl s_server -accept 127.0.0.1:\(port) -tls1_2 -state -no_cache -no_ticket -cert \(directory)/leaf.pem -key \(directory)/leaf.key \
                    -cert_chain \(directory)/middle.pem <input >output 2>&1 & server=$!
                seen() { for ((i = 0; i < 500; i++)); do [ $(grep -ac "$1" output) -ge $2 ] && return; sleep 0.02; done; return 1; }
                answer() { printf 'HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n' >&3; }
                seen ACCEPT 1
                ( seen '^GET' 1 && answer && seen '^GET' 2 && printf 'R\\n' >&3 && seen 'SSL_accept:.*write finished' 2 && answer ) >/dev/null &
                echo ready; read line; kill $server; cd /; rm -r $work
                """)
    }

    /// Nothing of the transfer that made the connection may be used then, which `MALLOC_PERTURB_=165` shows.
    @Test("A request for a certificate in a second handshake disturbs nothing", arguments: [true, false])
    func request(_ isEvaluated: Bool) async throws {
        let port = try LoopbackSocket.freePort()
        let server = try RenegotiationTests.server(on: port)
        defer { server.end() }
        let files = try ServerCertificates.shared.get()
        let root = TrustedAuthorities(try TrustStore(pem: try files.bytes("root.pem")), path: "root.pem")
        let driver = try await Driver()
        var ask = Ask("https://localhost:\(port)/")
        ask.trust = ServerTrust(.only(root), evaluator: isEvaluated ? .standard(validatesHost: true) : nil)
        let first = try await driver.fetch(ask)
        #expect(first.status == 200)
        await driver.forget()
        let second = try await driver.fetch(ask)
        #expect(second.status == 200, "\(second.error?.description ?? "")")
        #expect(second.metrics.isReused)
        await driver.end()
    }
}

import CarpoolSystem
import Synchronization
import Testing

@testable import CarpoolHTTP

/// Raw streams, whose servers are evaluated as those of requests are.
@Suite(.timeLimit(.minutes(1)))
struct RawStreamTrustTests {
    /// A stream on the driver's loop, and what becomes of it: `connected`, or the reason of the failure.
    private final class Connection: RawStreamDelegate, @unchecked Sendable {
        private var pool: RawStreamPool?
        private var stream: RawStream?
        private let continuation: CheckedContinuation<String, Never>
        /// Keeps it alive, since the stream does not.
        private var own: Connection?

        init(_ continuation: CheckedContinuation<String, Never>) {
            self.continuation = continuation
            own = self
        }

        /// Called on the loop.
        func open(_ url: String, _ trust: ServerTrust, _ transport: CurlTransport) throws {
            pool = try RawStreamPool(loop: transport.loop, transport: transport)
            var values = ConnectionSettings.Values()
            values.trust = trust
            stream = pool?.open(
                try HTTPURL(url), settings: .make(values), timeoutMilliseconds: 5_000, delegate: self)
        }

        private func end(_ word: String) {
            stream?.close()
            // The stream keeps its pool alive until this call has returned.
            let timer = Timer { [self] in
                (stream, pool, own) = (nil, nil, nil)
                continuation.resume(returning: word)
            }
            pool?.loop.arm(timer, afterMilliseconds: 1)
        }

        func rawStreamDidConnect(_ stream: RawStream) { end("connected") }

        func rawStream(_ stream: RawStream, didFailToConnectWith error: TransportError) {
            end(error.trust?.reason.rawValue ?? error.description)
        }

        func rawStreamDidBecomeReady(_ stream: RawStream) {}
    }

    private func connect(_ server: TLSServer, _ evaluator: ServerTrustEvaluator, host: String = "localhost")
        async throws
        -> String
    {
        let files = try ServerCertificates.shared.get()
        let root = TrustedAuthorities(try TrustStore(pem: try files.bytes("root.pem")), path: "root.pem")
        let driver = try await Driver()
        let url = "https://\(host):\(server.port)/"
        let word = await withCheckedContinuation { continuation in
            Task {
                _ = await driver.look { transport in
                    let connection = Connection(continuation)
                    try? connection.open(url, ServerTrust(.only(root), evaluator: evaluator), transport)
                }
            }
        }
        await driver.end()
        return word
    }

    @Test("An evaluator decides about the server of a raw stream", arguments: ["-tls1_2", "-tls1_3"])
    func evaluators(_ version: String) async throws {
        let server = try TLSServer(["other", "middle"], version)
        defer { server.end() }
        let standard = ServerTrustEvaluator.standard(validatesHost: true)
        #expect(try await connect(server, standard) == "connected")
        #expect(try await connect(server, standard, host: "127.0.0.1") == "host_validation_failed")
        #expect(try await connect(server, .disabled, host: "127.0.0.1") == "connected")
        #expect(try await connect(server, .missing) == "no_required_evaluator")
        let staple = ServerTrustEvaluator.revocation(RevocationCheck(staple: .require))
        #expect(try await connect(server, staple) == "revocation_check_failed")
    }

    @Test("A caller is asked once for a raw stream")
    func custom() async throws {
        let server = try TLSServer()
        defer { server.end() }
        let asked = Counter()
        let accepts = CustomTrust(identity: "accepts") { _, completion in
            asked.add()
            completion(.accept)
            completion(.refuse("too late"))
        }
        #expect(try await connect(server, .custom(accepts)) == "connected")
        #expect(asked.value == 1)
        let refuses = CustomTrust(identity: "refuses") { _, completion in completion(.refuse("no")) }
        #expect(try await connect(server, .custom(refuses)) == "custom_evaluation_failed")
    }
}

import Glibc
import Synchronization
import Testing

@testable import CarpoolHTTP

/// Evaluators in real handshakes.
@Suite(.timeLimit(.minutes(2)))
struct EvaluatedConnectionTests {
    private let files: ServerCertificates

    init() throws { files = try ServerCertificates.shared.get() }

    static let versions = ["-tls1_2", "-tls1_3"]

    private func authorities(_ names: [String]) throws -> TrustedAuthorities {
        TrustedAuthorities(try TrustStore(pem: try names.flatMap { try files.bytes("\($0).pem") }), path: "test")
    }

    private func trust(_ evaluator: ServerTrustEvaluator) throws -> ServerTrust {
        ServerTrust(.only(try authorities(["root"])), evaluator: evaluator)
    }

    private func fetch(_ server: TLSServer, _ evaluator: ServerTrustEvaluator, host: String = "localhost") async throws
        -> Outcome
    {
        let driver = try await Driver()
        var ask = Ask("https://\(host):\(server.port)/")
        ask.trust = try trust(evaluator)
        let outcome = try await driver.fetch(ask)
        await driver.end()
        return outcome
    }

    /// `accepted`, or the reason of the failure.
    private func word(_ outcome: Outcome) -> String {
        guard let error = outcome.error else { return outcome.status == 200 ? "accepted" : "status \(outcome.status)" }
        guard error.code == .serverTrustEvaluationFailed else { return error.description }
        #expect(error.isRetryable == false)
        return error.trust?.reason.rawValue ?? "no trust"
    }

    @Test("An evaluator decides in the handshake", arguments: versions)
    func evaluators(_ version: String) async throws {
        let server = try TLSServer(["other", "middle"], version)
        defer { server.end() }
        let pins = CertificatePins(try files.certificates(["leaf"]))
        let cases: [(ServerTrustEvaluator, String, String)] = [
            (.standard(validatesHost: true), "localhost", "accepted"),
            (.standard(validatesHost: true), "127.0.0.1", "host_validation_failed"),
            (.standard(validatesHost: false), "127.0.0.1", "accepted"),
            (.pinnedCertificates(pins), "localhost", "certificate_pinning_failed"),
            (.publicKeys(PublicKeyPins(pins.certificates.map(\.publicKey))), "localhost", "public_key_pinning_failed"),
            (.disabled, "127.0.0.1", "accepted"),
            (.missing, "localhost", "no_required_evaluator"),
            (.composite([.disabled, .standard(validatesHost: true), .missing]), "127.0.0.1", "host_validation_failed"),
        ]
        for (evaluator, host, expected) in cases {
            let outcome = try await fetch(server, evaluator, host: host)
            #expect(word(outcome) == expected, "\(evaluator) \(outcome.error?.description ?? "")")
        }
        let refused = try await fetch(server, .standard(validatesHost: true), host: "127.0.0.1").error?.trust
        #expect(refused?.host == "127.0.0.1")
        #expect(refused?.presentedCertificates == (try files.certificates(["other", "middle"]).map(\.digest)))
    }

    @Test("A chain to no authority is refused, and trusted without evaluation", arguments: versions)
    func unknownAuthority(_ version: String) async throws {
        let server = try TLSServer(["alone"], version)
        defer { server.end() }
        let standard = try await fetch(server, .standard(validatesHost: true))
        #expect(word(standard) == "trust_evaluation_failed")
        #expect(standard.error?.trust?.output?.contains("self-signed") == true)
        #expect(word(try await fetch(server, .disabled)) == "accepted")
        let pins = CertificatePins(try files.certificates(["alone"]), acceptsSelfSigned: true)
        #expect(word(try await fetch(server, .pinnedCertificates(pins))) == "accepted")
    }

    @Test("Stapled answers are checked in both versions of TLS", arguments: versions)
    func staples(_ version: String) async throws {
        let failed = "revocation_check_failed"
        let cases: [(String?, check: String, require: String)] = [
            (nil, "accepted", failed), ("good", "accepted", "accepted"), ("delegated", "accepted", "accepted"),
            ("revoked", failed, failed), ("forged", failed, failed), ("about-other", failed, failed),
        ]
        for (staple, checked, required) in cases {
            let server = try TLSServer(
                ["leaf", "middle"], version + (staple.map { " -status_file \($0).staple" } ?? ""))
            defer { server.end() }
            for (policy, expected) in [
                (RevocationCheck.Staple.ignore, "accepted"), (.check, checked), (.require, required),
            ] {
                let outcome = try await fetch(server, .revocation(RevocationCheck(staple: policy)))
                #expect(word(outcome) == expected, "\(staple ?? "none") \(policy): \(outcome.error?.description ?? "")")
            }
        }
    }

    @Test("With a stapled answer, the first evaluator that fails counts, too", arguments: versions)
    func order(_ version: String) async throws {
        let server = try TLSServer(["leaf", "middle"], "\(version) -status_file revoked.staple")
        defer { server.end() }
        let revocation = ServerTrustEvaluator.revocation(RevocationCheck(staple: .check))
        #expect(word(try await fetch(server, .composite([revocation, .missing]))) == "revocation_check_failed")
        #expect(word(try await fetch(server, .composite([.missing, revocation]))) == "no_required_evaluator")
    }

    @Test("Keys that take long to verify are refused by every evaluator", arguments: versions)
    func expensiveKeys(_ version: String) async throws {
        let server = try TLSServer(["expensive"], version)
        defer { server.end() }
        for evaluator in [.disabled, .revocation(RevocationCheck()), .standard(validatesHost: true)]
            as [ServerTrustEvaluator]
        {
            let outcome = try await fetch(server, evaluator)
            #expect(word(outcome) == "trust_evaluation_failed")
            #expect(outcome.error?.trust?.output?.contains("takes too long") == true)
        }
    }

    @Test("Names that take long to compare are refused, with and without an evaluator", arguments: versions)
    func manyNames(_ version: String) async throws {
        let files = try ServerCertificates.shared.get()
        let root = TrustedAuthorities(try TrustStore(pem: try files.bytes("root.pem")), path: "root.pem")
        let chains = [["bounded", "named-1"], ["named", "named-3", "named-2", "named-1"]]
        for (chain, isAccepted) in zip(chains, [true, false]) {
            let server = try TLSServer(chain, version)
            defer { server.end() }
            let driver = try await Driver()
            var ask = Ask(server.url)
            ask.trust = .authorities(root)
            let standard = try await driver.fetch(ask)
            #expect(standard.error?.code == (isAccepted ? nil : .serverCertificateUntrusted))
            ask.trust.evaluator = .standard(validatesHost: true)
            #expect(word(try await driver.fetch(ask)) == (isAccepted ? "accepted" : "trust_evaluation_failed"))
            ask.trust = .none
            #expect(try await driver.fetch(ask).status == 200)
            await driver.end()
        }
    }

    @Test("A connection is evaluated once, and requests with other evaluators do not use it")
    func reuse() async throws {
        let nginx = try Nginx.shared.get()
        let driver = try await Driver()
        var ask = Ask(nginx.https + "/where")
        ask.trust = ServerTrust(evaluator: .disabled)
        let first = try await driver.fetch(ask)
        let second = try await driver.fetch(ask)
        #expect(first.error == nil && second.error == nil)
        #expect(second.metrics.isReused)
        ask.trust = ServerTrust(evaluator: .missing)
        #expect(word(try await driver.fetch(ask)) == "no_required_evaluator")
        ask.trust = .system
        #expect(try await driver.fetch(ask).error?.code == .serverCertificateHasUnknownRoot)
        await driver.end()
    }

    @Test("A resumed TLS session would skip the evaluation, so there is none")
    func resumption() async throws {
        let nginx = try Nginx.shared.get()
        let driver = try await Driver()
        let asked = Counter()
        var ask = Ask(nginx.httpsWithoutHTTP2 + "/where")
        ask.trust = ServerTrust(
            evaluator: .custom(
                CustomTrust(identity: "counting") { _, completion in
                    asked.add()
                    completion(.accept)
                }))
        #expect(try await driver.fetch(ask).error == nil)
        ask.needsFreshConnection = true
        let second = try await driver.fetch(ask)
        #expect(second.error == nil, "\(second.error?.description ?? "")")
        #expect(!second.metrics.isReused)
        #expect(asked.value == 2)
        await driver.end()
    }

    @Test("The system's authorities and a caller's are trusted together")
    func joinedAuthorities() async throws {
        var configuration = TransportConfiguration()
        configuration.authoritiesPath = files.path("root.pem")
        let driver = try await Driver(configuration)
        let own = try TLSServer(["alone"])
        let system = try TLSServer()
        defer {
            own.end()
            system.end()
        }
        let both = ServerTrust(.systemAnd(try authorities(["alone"])))
        for (trust, server, isTrusted) in [
            (both, own, true), (both, system, true), (.system, own, false), (.system, system, true),
            (ServerTrust(.only(try authorities(["alone"]))), system, false),
            (ServerTrust(both.authorities, evaluator: .standard(validatesHost: true)), system, true),
            (ServerTrust(both.authorities, evaluator: .standard(validatesHost: true)), own, true),
        ] as [(ServerTrust, TLSServer, Bool)] {
            var ask = Ask(server.url)
            ask.trust = trust
            let outcome = try await driver.fetch(ask)
            #expect((outcome.error == nil) == isTrusted, "\(trust) \(outcome.error?.description ?? "")")
        }
        await driver.end()
    }
}

import Glibc
import Testing

@testable import CarpoolHTTP

/// An evaluation without a handshake: the verdict as a word, and the failure.
struct Evaluation {
    var chain = ["leaf", "middle"]
    var host = "localhost"
    var authorities = ["root"]
    var staple: String?
    var accepted: Set<CustomTrust> = []
    /// How many days from now.
    var days = 0

    func run(_ evaluator: ServerTrustEvaluator) throws -> (word: String, failure: ServerTrustFailure?) {
        let files = try ServerCertificates.shared.get()
        let check = ServerTrustCheck(
            host: host, presented: try files.certificates(chain),
            store: try #require(TrustStore(try files.certificates(authorities))), securityLevel: 2,
            staple: try staple.map { try files.bytes("\($0).staple") }, accepted: accepted,
            time: Glibc.time(nil) + days * 86_400)
        switch try #require(check).evaluate(evaluator) {
        case .accepted: return ("accepted", nil)
        case .refused(let failure): return (failure.reason.rawValue, failure)
        case .asks: return ("asks", nil)
        }
    }
}

struct ServerTrustCheckTests {
    private let files: ServerCertificates

    init() throws { files = try ServerCertificates.shared.get() }

    private static let standard = ServerTrustEvaluator.standard(validatesHost: true)

    @Test("The standard evaluator verifies the chain and the host")
    func standard() throws {
        let (accepted, chain, host) = ("accepted", "trust_evaluation_failed", "host_validation_failed")
        let cases: [(Evaluation, Bool, String)] = [
            (Evaluation(), true, accepted),
            (Evaluation(chain: ["leaf"]), true, chain),
            (Evaluation(authorities: ["stranger"]), true, chain),
            (Evaluation(authorities: []), true, chain),
            (Evaluation(authorities: ["middle"]), true, accepted),
            (Evaluation(chain: ["alone"]), true, chain),
            (Evaluation(chain: ["alone"], authorities: ["alone"]), true, accepted),
            (Evaluation(days: 40), true, chain),
            (Evaluation(days: -1), true, chain),
            (Evaluation(host: "other.test"), true, host),
            (Evaluation(host: "other.test"), false, accepted),
            (Evaluation(host: "other.test", days: 40), false, chain),
            (Evaluation(chain: ["middle"]), false, accepted),
            (Evaluation(chain: ["client", "middle"]), true, chain),
            (Evaluation(chain: ["weak", "middle"]), true, chain),
            (Evaluation(chain: ["bounded", "named-1"]), true, accepted),
            // Comparing the names takes too long: 47 ms.
            (Evaluation(chain: ["named", "named-3", "named-2", "named-1"]), true, chain),
            (Evaluation(chain: ["deep"] + (1...11).reversed().map { "deep-\($0)" }), true, chain),
            (
                Evaluation(chain: ["deep"] + (2...11).reversed().map { "deep-\($0)" }, authorities: ["deep-1"]), true,
                accepted
            ),
        ]
        for (evaluation, validatesHost, word) in cases {
            let result = try evaluation.run(.standard(validatesHost: validatesHost))
            #expect(result.word == word, "\(evaluation) \(result.failure?.description ?? "")")
            #expect(result.failure?.evaluator == (word == accepted ? nil : "default"))
        }
    }

    @Test("A failure has OpenSSL's text, and what the server has sent")
    func failure() throws {
        let failure = try #require(try Evaluation(days: 40).run(Self.standard).failure)
        #expect(failure.output?.hasSuffix("certificate has expired") == true)
        #expect(failure.host == "localhost")
        let chain = try files.certificates(["leaf", "middle"])
        #expect(failure.presentedCertificates == chain.map(\.digest))
        #expect(failure.presentedKeys == chain.map(\.publicKey.description))
        #expect(failure.presentedKeys.allSatisfy { $0.hasPrefix("sha256//") && $0.utf8.count == 52 })
        #expect(failure.description.hasPrefix("the certificate of localhost is not trusted: error 10 at depth "))
    }

    @Test("A name stands in subjectAltName, with a wildcard for one whole label")
    func hosts() throws {
        let valid = [
            "localhost", "LocalHost", "localhost.", "a.wild.test", "127.0.0.1", "::1", "::1%lo", "0:0:0:0:0:0:0:1",
        ]
        let invalid = [
            "", ".", ".localhost", ".wild.test", "wild.test", "a.b.wild.test", "leaf", "127.0.0.2", "::2",
            "localhost.x",
            "xlocalhost", "*.wild.test.", "localhost\0.x",
        ]
        for host in valid { #expect(try Evaluation(host: host).run(Self.standard).word == "accepted", "\(host)") }
        for host in invalid {
            #expect(try Evaluation(host: host).run(Self.standard).word == "host_validation_failed", "\(host)")
        }
        let common = try Evaluation(chain: ["common", "middle"]).run(Self.standard)
        #expect(common.word == "host_validation_failed", "a common name is no name of a host (RFC 9525)")
    }

    @Test("Without an evaluator for the host every server is refused, and with disabled none is")
    func extremes() throws {
        let missing = try Evaluation().run(.missing)
        #expect(missing.word == "no_required_evaluator")
        #expect(missing.failure?.evaluator == nil)
        for evaluation in [
            Evaluation(), Evaluation(chain: ["alone"], host: "x", authorities: [], days: 4_000),
            Evaluation(authorities: []),
        ] {
            #expect(try evaluation.run(.disabled).word == "accepted")
        }
    }

    @Test("A composite evaluator fails as the first of its parts that fails")
    func composite() throws {
        let empty = ServerTrustEvaluator.pinnedCertificates(CertificatePins([]))
        let noKeys = ServerTrustEvaluator.publicKeys(PublicKeyPins([]))
        let cases: [([ServerTrustEvaluator], String)] = [
            ([Self.standard, .disabled], "accepted"),
            ([Self.standard, empty, noKeys], "no_certificates_found"),
            ([noKeys, Self.standard, empty], "no_public_keys_found"),
            ([.disabled, .missing], "no_required_evaluator"),
            ([.composite([.disabled, noKeys]), empty], "no_public_keys_found"),
            ([], "no_required_evaluator"),
            ([.composite([])], "no_required_evaluator"),
            (Array(repeating: Self.standard, count: 8), "accepted"),
            (Array(repeating: .disabled, count: 9), "no_required_evaluator"),
        ]
        for (parts, word) in cases {
            #expect(try Evaluation().run(.composite(parts)).word == word, "\(parts)")
        }
        let mixed = try Evaluation(host: "x").run(.composite([.disabled, Self.standard]))
        #expect(mixed.failure?.evaluator == "default")
    }

    @Test("A caller decides about a chain, and what comes after it is checked")
    func custom() throws {
        let custom = CustomTrust(identity: "a") { _, completion in completion(.accept) }
        let other = CustomTrust(identity: "b") { _, completion in completion(.accept) }
        #expect(try Evaluation().run(.custom(custom)).word == "asks")
        #expect(try Evaluation(accepted: [custom]).run(.custom(custom)).word == "accepted")
        #expect(try Evaluation(accepted: [other]).run(.custom(custom)).word == "asks")
        let composite = ServerTrustEvaluator.composite([.custom(custom), .missing])
        #expect(try Evaluation(accepted: [custom]).run(composite).word == "no_required_evaluator")
        #expect(try Evaluation().run(.composite([.missing, .custom(custom)])).word == "no_required_evaluator")
    }

    @Test("Evaluators that would verify very many signatures are refused")
    func limit() throws {
        let lists = try files.lists(["middle-none", "root-none"])
        let check = ServerTrustEvaluator.revocation(RevocationCheck(lists: lists, staple: .ignore))
        #expect(try Evaluation().run(.composite(Array(repeating: check, count: 8))).word == "accepted")
        // Lists of unverified certificates: each issuer is looked for among all certificates that the server sends.
        let loose = ServerTrustEvaluator.revocation(
            RevocationCheck(
                lists: try files.lists(Array(repeating: "root-none", count: 60)), staple: .ignore,
                performsDefaultValidation: false))
        let long = Evaluation(chain: ["leaf"] + Array(repeating: "middle", count: 31))
        let result = try long.run(loose)
        #expect(result.word == "trust_evaluation_failed")
        #expect(result.failure?.output?.hasSuffix("take too long to verify") == true)
    }

    @Test("A key of an unknown kind verifies nothing, and can be pinned")
    func unknownKeys() throws {
        // The identifier of elliptic keys (RFC 5480, section 2.1.1), which the bytes of the key follow.
        let known: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
        var der = try files.bytes("leaf.der")
        let place = try #require(der.indices.first { der[$0...].starts(with: known) })
        der[place + 6] = 0x7F
        let certificate = try #require(try X509Certificate.parse(der).first)
        let middle = try files.certificates(["middle"])
        let store = try #require(TrustStore(try files.certificates(["root"])))
        let lists = RevocationCheck(
            lists: try files.lists(["middle-none", "root-none"]), staple: .ignore, performsDefaultValidation: false)
        let cases: [(ServerTrustEvaluator, Bool)] = [
            (Self.standard, false), (.disabled, true), (.revocation(RevocationCheck()), false),
            (.revocation(lists), true),
            (.pinnedCertificates(CertificatePins([certificate], acceptsSelfSigned: true)), false),
            (.publicKeys(PublicKeyPins([certificate.publicKey], performsDefaultValidation: false)), true),
        ]
        for chain in [[certificate] + middle, [certificate, certificate]] {
            for (evaluator, isAccepted) in cases {
                let check = try #require(
                    ServerTrustCheck(
                        host: "localhost", presented: chain, store: store, securityLevel: 2,
                        staple: try files.bytes("good.staple")))
                switch check.evaluate(evaluator) {
                case .accepted: #expect(isAccepted, "\(evaluator)")
                case .refused(let failure): #expect(!isAccepted, "\(failure)")
                case .asks: Issue.record("\(evaluator)")
                }
            }
        }
    }
}

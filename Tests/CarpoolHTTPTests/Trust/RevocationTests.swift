import Glibc
import Testing

@testable import CarpoolHTTP

struct RevocationTests {
    private let files: ServerCertificates

    init() throws { files = try ServerCertificates.shared.get() }

    private static let failed = "revocation_check_failed"

    private func run(_ evaluation: Evaluation, _ check: RevocationCheck, _ lists: [String] = []) throws -> (
        String, String
    ) {
        var check = check
        if !lists.isEmpty { check.lists = try files.lists(lists) }
        let result = try evaluation.run(.revocation(check))
        #expect(result.failure?.evaluator ?? "revocation" == "revocation")
        return (result.word, result.failure?.output ?? "")
    }

    @Test("Chain and host are verified first, unless that is switched off")
    func standard() throws {
        let check = RevocationCheck(staple: .ignore)
        #expect(try run(Evaluation(), check).0 == "accepted")
        #expect(try run(Evaluation(authorities: []), check).0 == "trust_evaluation_failed")
        #expect(try run(Evaluation(host: "x"), check).0 == "host_validation_failed")
        #expect(try run(Evaluation(host: "x"), RevocationCheck(staple: .ignore, validatesHost: false)).0 == "accepted")
        let loose = RevocationCheck(staple: .ignore, performsDefaultValidation: false, validatesHost: false)
        #expect(try run(Evaluation(host: "x", authorities: [], days: 40), loose).0 == "accepted")
    }

    @Test("Lists refuse what they list", arguments: [true, false])
    func lists(_ isVerified: Bool) throws {
        let check = RevocationCheck(staple: .ignore, performsDefaultValidation: isVerified)
        let cases: [([String], Int, String)] = [
            (["middle-none", "root-none"], 0, "accepted"),
            (["middle-none"], 0, "accepted"),
            (["root-none"], 0, "accepted"),
            (["middle-leaf"], 0, Self.failed),
            (["root-none", "middle-leaf"], 0, Self.failed),
            (["root-middle"], 0, Self.failed),
            (["middle-none", "root-middle"], 0, Self.failed),
            (["forged"], 0, Self.failed),
            (["middle-none"], 6, Self.failed),
        ]
        for (lists, days, word) in cases {
            #expect(try run(Evaluation(days: days), check, lists).0 == word, "\(lists)")
        }
        #expect(try run(Evaluation(), check, ["middle-leaf"]).1.hasSuffix("certificate revoked"))
        #expect(try run(Evaluation(), check, ["forged"]).1.hasSuffix("CRL signature failure"))
        #expect(try run(Evaluation(days: 6), check, ["middle-none"]).1.hasSuffix("CRL has expired"))
    }

    @Test("A list that is missing passes, unless a positive response is required", arguments: [true, false])
    func missing(_ isVerified: Bool) throws {
        let check = RevocationCheck(
            staple: .check, requiresPositiveResponse: true, performsDefaultValidation: isVerified)
        #expect(try run(Evaluation(), check, ["middle-none", "root-none"]).0 == "accepted")
        #expect(try run(Evaluation(), check, ["middle-none"]).0 == Self.failed)
        #expect(try run(Evaluation(), check, ["root-none"]).0 == Self.failed)
        #expect(try run(Evaluation(staple: "good"), check, ["root-none"]).0 == "accepted")
        #expect(try run(Evaluation(staple: "good"), check, ["middle-none"]).0 == Self.failed)
        #expect(try run(Evaluation(), check).0 == Self.failed)
        #expect(try run(Evaluation(staple: "good"), check).0 == "accepted")
    }

    @Test("A trusted certificate that is no root needs no list, but a list counts")
    func anchors() throws {
        let strict = RevocationCheck(staple: .ignore, requiresPositiveResponse: true)
        let soft = RevocationCheck(staple: .ignore)
        let middle = Evaluation(authorities: ["middle"])
        #expect(try run(middle, strict, ["middle-none"]).0 == "accepted")
        #expect(try run(middle, strict, ["middle-none", "root-none"]).1 == "")
        #expect(try run(middle, soft, ["middle-none", "root-middle"]).0 == Self.failed)
        #expect(try run(middle, soft, ["root-middle"]).0 == Self.failed)
        let leaf = Evaluation(chain: ["leaf"], authorities: ["leaf"])
        #expect(try run(leaf, soft, ["middle-leaf"]).0 == Self.failed)
        #expect(try run(leaf, soft, ["middle-none"]).1 == "")
        #expect(try run(leaf, soft, ["root-none"]).0 == "accepted")
        #expect(try run(leaf, strict, ["root-none"]).0 == Self.failed)
    }

    @Test("A server cannot avoid a list by leaving out the issuer, where nothing is verified")
    func withoutIssuer() throws {
        let check = RevocationCheck(staple: .ignore, performsDefaultValidation: false)
        let alone = Evaluation(chain: ["leaf"], authorities: [])
        #expect(try run(alone, check, ["middle-leaf"]).0 == Self.failed)
        #expect(try run(alone, check, ["middle-none"]).0 == "accepted")
        #expect(
            try run(Evaluation(chain: ["leaf", "stranger"], authorities: []), check, ["middle-leaf"]).0 == Self.failed)
    }

    @Test("A stapled answer must be valid and good; only a missing one may pass", arguments: [true, false])
    func staples(_ isVerified: Bool) throws {
        let cases: [(String?, Int, check: String, require: String)] = [
            (nil, 0, "accepted", Self.failed),
            ("good", 0, "accepted", "accepted"),
            ("delegated", 0, "accepted", "accepted"),
            ("revoked", 0, Self.failed, Self.failed),
            ("unknown", 0, Self.failed, Self.failed),
            ("forged", 0, Self.failed, Self.failed),
            ("pretended", 0, Self.failed, Self.failed),
            ("unauthorised", 0, Self.failed, Self.failed),
            ("about-other", 0, Self.failed, Self.failed),
            ("good", 2, Self.failed, Self.failed),
            ("brief", 1, "accepted", "accepted"),
            ("brief", 4, Self.failed, Self.failed),
            ("endless", 6, "accepted", "accepted"),
            ("endless", 8, Self.failed, Self.failed),
        ]
        for (staple, days, checked, required) in cases {
            let evaluation = Evaluation(staple: staple, days: days)
            for (policy, word) in [
                (RevocationCheck.Staple.ignore, "accepted"), (.check, checked), (.require, required),
            ] {
                let check = RevocationCheck(staple: policy, performsDefaultValidation: isVerified)
                let result = try run(evaluation, check)
                #expect(result.0 == word, "\(staple ?? "none") \(days) \(policy): \(result.1)")
            }
        }
        let check = RevocationCheck(staple: .check, performsDefaultValidation: isVerified)
        #expect(try run(Evaluation(staple: "revoked"), check).1.contains("revoked"))
        #expect(try run(Evaluation(staple: "good", days: 2), check).1.contains("expired"))
        #expect(try run(Evaluation(staple: nil), RevocationCheck(staple: .require)).1.contains("no answer"))
    }

    @Test("Lists and answers do not hold before their time")
    func early() throws {
        let yesterday = Evaluation(staple: "good", days: -1)
        let lists = RevocationCheck(staple: .ignore, performsDefaultValidation: false)
        #expect(try run(yesterday, lists, ["middle-none"]).0 == Self.failed)
        let staple = try run(yesterday, RevocationCheck(staple: .check, performsDefaultValidation: false))
        #expect(staple.0 == Self.failed)
        #expect(staple.1.contains("not yet valid"))
    }

    @Test("An answer that is cut off or changed is refused")
    func damaged() throws {
        let chain = try files.certificates(["leaf", "middle"])
        let good = try files.bytes("good.staple")
        for count in [0, 1, good.count / 2, good.count - 1] {
            #expect(throws: StapledAnswer.Failure.self) {
                try StapledAnswer.check(Array(good[..<count]), leaf: chain[0], issuer: chain[1], time: 0)
            }
        }
        var changed = good
        changed[100] ^= 1
        let (bytes, now) = (changed, Int(time(nil)))
        #expect(throws: StapledAnswer.Failure.self) {
            try StapledAnswer.check(bytes, leaf: chain[0], issuer: chain[1], time: now)
        }
        try StapledAnswer.check(good, leaf: chain[0], issuer: chain[1], time: now)
    }

    @Test("Lists are read from PEM and DER, and are equal by content")
    func parsing() throws {
        let pem = try files.lists(["middle-leaf", "root-none"])
        #expect(pem.count == 2)
        #expect(pem == (try files.lists(["middle-leaf", "root-none"])))
        #expect(pem != (try files.lists(["middle-leaf"])))
        let der = try files.bytes("middle-leaf.crl.der")
        #expect(try CertificateRevocationLists(der + der).count == 2)
        let check = RevocationCheck(lists: try CertificateRevocationLists(der), staple: .ignore)
        #expect(try run(Evaluation(), check).0 == Self.failed)
        let cases: [([UInt8], TrustMaterialError)] = [
            ([], .empty), (Array("text".utf8), .empty), (try files.bytes("leaf.pem"), .empty),
            (der + [1], .unreadable(number: 2)), (Array(der.dropLast()), .unreadable(number: 1)),
            (Array(repeating: der, count: 65).flatMap { $0 }, .tooMany(limit: 64)),
            ([UInt8](repeating: 32, count: 1_048_577), .tooLarge(limitBytes: 1_048_576)),
            (Array("-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n".utf8), .unreadable(number: 1)),
        ]
        for (bytes, failure) in cases {
            #expect(throws: failure) { try CertificateRevocationLists(bytes) }
        }
    }

    @Test("Certificates are read from PEM and DER")
    func certificates() throws {
        let der = try files.bytes("leaf.der")
        let leaf = try files.certificates(["leaf"])
        #expect(try X509Certificate.parse(der) == leaf)
        #expect(try X509Certificate.parse(der + der) == leaf + leaf)
        #expect(leaf.first?.der == der)
        let text = Array("0 s:CN = leaf\n".utf8) + (try files.bytes("leaf.key")) + (try files.bytes("leaf.pem"))
        #expect(try X509Certificate.parse(text) == leaf)
        #expect(throws: TrustMaterialError.empty) { try X509Certificate.parse(try files.bytes("leaf.key")) }
        #expect(throws: TrustMaterialError.unreadable(number: 1)) { try X509Certificate.parse(Array(der.dropLast())) }
    }
}

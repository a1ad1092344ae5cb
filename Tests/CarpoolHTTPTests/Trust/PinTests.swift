import CTLS
import Foundation
import Testing

@testable import CarpoolHTTP

struct PinTests {
    private let files: ServerCertificates

    init() throws { files = try ServerCertificates.shared.get() }

    /// Pinned certificates, with and without verification.
    private func certificates(
        _ names: [String], selfSigned: Bool = false, validates: Bool = true, host: Bool = true
    ) throws -> ServerTrustEvaluator {
        .pinnedCertificates(
            CertificatePins(
                try files.certificates(names), acceptsSelfSigned: selfSigned, performsDefaultValidation: validates,
                validatesHost: host))
    }

    private func keys(_ names: [String], validates: Bool = true, host: Bool = true) throws -> ServerTrustEvaluator {
        let keys = try files.certificates(names).map(\.publicKey)
        return .publicKeys(PublicKeyPins(keys, performsDefaultValidation: validates, validatesHost: host))
    }

    @Test(
        "A pin matches the server's certificate, an authority between, or the root",
        arguments: ["leaf", "middle", "root"])
    func places(_ name: String) throws {
        #expect(try Evaluation().run(try certificates([name])).word == "accepted")
        #expect(try Evaluation().run(try certificates(["alone", name])).word == "accepted")
        #expect(try Evaluation().run(try keys([name])).word == "accepted")
        #expect(try Evaluation(host: "x").run(try certificates([name])).word == "host_validation_failed")
        #expect(try Evaluation(host: "x").run(try certificates([name], host: false)).word == "accepted")
        #expect(try Evaluation(host: "x").run(try keys([name])).word == "host_validation_failed")
        #expect(try Evaluation(host: "x").run(try keys([name], host: false)).word == "accepted")
        #expect(try Evaluation(days: 40).run(try keys([name])).word == "trust_evaluation_failed")
    }

    @Test("A file has public keys or certificates, in PEM or DER; other blocks of PEM are skipped")
    func keysOfFiles() throws {
        let all = try files.certificates(["leaf", "middle", "root"])
        let expected = all.map(\.publicKey)
        let keys = all.map {
            X509Certificate.encode { [raw = $0.raw] in i2d_X509_PUBKEY(X509_get_X509_PUBKEY(raw), $0) }
        }
        #expect(try PublicKeyPin.parse(Array(keys.joined())) == expected)
        #expect(try PublicKeyPin.parse(all.flatMap(\.der)) == expected)
        #expect(try PublicKeyPin.parse(all[0].der + keys[1]) == Array(expected[..<2]))
        let text =
            block("PUBLIC KEY", keys[0]) + "a line\n" + block("PRIVATE KEY", [1, 2, 3])
            + block("CERTIFICATE", all[1].der)
        #expect(try PublicKeyPin.parse(Array(text.utf8)) == Array(expected[..<2]))
    }

    private func block(_ name: String, _ bytes: [UInt8]) -> String {
        "-----BEGIN \(name)-----\n\(Data(bytes).base64EncodedString(options: .lineLength64Characters))\n-----END \(name)-----\n"
    }

    @Test("What is no key is refused")
    func noKeys() throws {
        let leaf = try files.certificates(["leaf"])[0]
        let key = X509Certificate.encode { i2d_X509_PUBKEY(X509_get_X509_PUBKEY(leaf.raw), $0) }
        for bytes in [[], [0x30], [0x30, 0], Array("sha256//x".utf8), Array("0text".utf8)] as [[UInt8]] {
            #expect(throws: TrustMaterialError.empty) { try PublicKeyPin.parse(bytes) }
        }
        #expect(throws: TrustMaterialError.unreadable(number: 1)) { try PublicKeyPin.parse([0x30, 1, 0x30]) }
        #expect(throws: TrustMaterialError.unreadable(number: 2)) { try PublicKeyPin.parse(key + [0]) }
        #expect(throws: TrustMaterialError.unreadable(number: 1)) {
            try PublicKeyPin.parse(Array(block("PUBLIC KEY", [1, 2, 3]).utf8))
        }
        #expect(throws: TrustMaterialError.tooMany(limit: 256)) {
            try PublicKeyPin.parse(Array((0..<257).map { _ in key }.joined()))
        }
    }

    @Test("Other certificates do not match; the failure lists pins and what was sent")
    func mismatch() throws {
        let certificate = try Evaluation().run(try certificates(["other", "alone"]))
        #expect(certificate.word == "certificate_pinning_failed")
        #expect(certificate.failure?.evaluator == "pinned_certificates")
        #expect(certificate.failure?.pins == (try files.certificates(["other", "alone"]).map(\.digest).sorted()))
        #expect(
            certificate.failure?.presentedCertificates == (try files.certificates(["leaf", "middle"]).map(\.digest)))
        let key = try Evaluation().run(try keys(["other"]))
        #expect(key.word == "public_key_pinning_failed")
        #expect(key.failure?.evaluator == "public_keys")
        #expect(key.failure?.pins == (try files.certificates(["other"]).map(\.publicKey.description)))
        #expect(try Evaluation().run(try certificates([])).word == "no_certificates_found")
        #expect(try Evaluation().run(try keys([])).word == "no_public_keys_found")
    }

    @Test("A server cannot pass by appending the pinned certificate to its own chain")
    func appended() throws {
        // The other certificate is valid and for the same host, but is not the pinned one.
        let bypass = Evaluation(chain: ["other", "middle", "leaf"])
        #expect(try bypass.run(try certificates(["leaf"])).word == "certificate_pinning_failed")
        #expect(try bypass.run(try keys(["leaf"])).word == "public_key_pinning_failed")
        let appendedRoot = Evaluation(chain: ["alone", "root"], authorities: ["alone", "root"])
        #expect(try appendedRoot.run(try certificates(["root"])).word == "certificate_pinning_failed")
        // Without verification there is only what was sent.
        #expect(try bypass.run(try certificates(["leaf"], validates: false)).word == "accepted")
        #expect(try bypass.run(try keys(["leaf"], validates: false)).word == "accepted")
        #expect(try bypass.run(try keys(["root"], validates: false)).word == "public_key_pinning_failed")
    }

    @Test("Without verification a pinned certificate is enough")
    func unverified() throws {
        let evaluation = Evaluation(chain: ["alone"], authorities: [], days: 4_000)
        #expect(try evaluation.run(try certificates(["alone"], validates: false)).word == "accepted")
        #expect(try evaluation.run(try certificates(["alone"])).word == "trust_evaluation_failed")
        #expect(try evaluation.run(try keys(["alone"], validates: false)).word == "accepted")
    }

    @Test("As the only authorities, pins let a server have signed its own certificate")
    func anchors() throws {
        let own = try certificates(["alone"], selfSigned: true)
        #expect(try Evaluation(chain: ["alone"], authorities: []).run(own).word == "accepted")
        #expect(try Evaluation(chain: ["alone"], host: "x", authorities: []).run(own).word == "host_validation_failed")
        #expect(try Evaluation(chain: ["alone"], days: 40).run(own).word == "trust_evaluation_failed")
        // The system's authorities count no more.
        #expect(try Evaluation().run(own).word == "trust_evaluation_failed")
        for name in ["leaf", "middle", "root"] {
            let pinned = try certificates([name], selfSigned: true)
            #expect(try Evaluation(authorities: []).run(pinned).word == "accepted", "\(name)")
        }
        // Nothing that is sent above a pinned certificate of the server itself is judged.
        let leaf = try certificates(["leaf"], selfSigned: true)
        for above in [["stranger"], ["alone"], ["broken"], ["broken", "root"], ["middle", "stranger"], []] {
            #expect(try Evaluation(chain: ["leaf"] + above, authorities: []).run(leaf).word == "accepted", "\(above)")
        }
        let bypass = Evaluation(chain: ["other", "middle", "leaf"], authorities: [])
        #expect(try bypass.run(leaf).word == "trust_evaluation_failed")
    }

    @Test("The text of a pin is refused with the reason")
    func texts() throws {
        let key = try #require(try files.certificates(["leaf"]).first).publicKey
        #expect(try PublicKeyPin(key.description) == key)
        let zero = "sha256//" + String(repeating: "A", count: 43) + "="
        #expect(try PublicKeyPin(zero).hash == [UInt8](repeating: 0, count: 32))
        #expect(try PublicKeyPin(zero).description == zero)
        let letters = String(repeating: "A", count: 42)
        let cases: [(String, PublicKeyPin.Failure)] = [
            ("", .noPrefix), (letters, .noPrefix), ("SHA256//" + letters + "A=", .noPrefix),
            ("sha1//" + letters + "A=", .noPrefix), ("sha256//", .wrongLength(expected: 44)),
            (zero + " ", .wrongLength(expected: 44)), (zero + ";" + zero, .wrongLength(expected: 44)),
            ("sha256//" + letters + "AA", .notBase64), ("sha256//" + letters + "B=", .notBase64),
            ("sha256//" + letters + "==", .notBase64), ("sha256//" + letters + "-=", .notBase64),
            ("sha256// " + letters + "=", .notBase64),
        ]
        for (text, failure) in cases {
            #expect(throws: failure, "\(text)") { try PublicKeyPin(text) }
        }
    }

    @Test("Pins are equal by content")
    func equality() throws {
        let pins = try certificates(["leaf", "middle"])
        #expect(try certificates(["middle", "leaf"]) == pins)
        #expect(try certificates(["leaf"]) != pins)
        #expect(try certificates(["leaf", "middle"], host: false) != pins)
        #expect(try certificates(["leaf", "middle"], validates: false) != pins)
        #expect(try certificates(["leaf", "middle"], selfSigned: true) != pins)
        #expect(try Set([keys(["leaf"]), keys(["leaf"]), keys(["leaf"], host: false)]).count == 2)
    }
}

import CTLS
import Testing

@testable import CarpoolHTTP

/// What is read as a client certificate, and what is refused by which name.
@Suite(.timeLimit(.minutes(2)))
struct ClientCertificateTests {
    let files: TestCertificates

    init() throws { files = try TestCertificates.shared.get() }

    @Test(arguments: [
        ("client.pem", "client.key", 0), ("chain.pem", "client.key", 1), ("all.pem", nil, 1), ("reversed.pem", nil, 2),
        ("chain.pem", "all.pem", 1), ("client.pem", "sec1.key", 0), ("client.pem", "parameters.key", 0),
        ("rsa2048.pem", "pkcs1.key", 0), ("rsa2048.pem", "rsa2048.key", 0), ("rsa4096.pem", "rsa4096.key", 0),
        ("rsa1024.pem", "rsa1024.key", 0), ("pss.pem", "pss.key", 0), ("ed25519.pem", "ed25519.key", 0),
        ("ed448.pem", "ed448.key", 0), ("p384.pem", "p384.key", 0), ("p521.pem", "p521.key", 0),
        ("long.pem", "client.key", 32), ("expired.pem", "expired.key", 0),
    ]) func reads(certificate: String, key: String?, chain: Int) throws {
        let read = try files.read(certificate, key: key)
        // Of 32 equal certificates none is dropped: only the first itself would be.
        #expect(read.chainCount == chain)
    }

    @Test(arguments: ["old.key", "pbes2.key", "pbes1.key", "scrypt.key"])
    func readsEncryptedKeys(key: String) throws {
        let plain = try files.read("chain.pem", key: "client.key")
        #expect(try files.read("chain.pem", key: key, isEncrypted: true) == plain)
        #expect(throws: ClientCertificate.Failure.passwordMissing) { try files.read("chain.pem", key: key) }
        let (certificate, bytes) = (try files.bytes("chain.pem"), try files.bytes(key))
        for wrong in ["", "secre", "secret ", String(repeating: "x", count: 1_024)] {
            #expect(throws: ClientCertificate.Failure.passwordWrong) {
                try ClientCertificate.read(certificate, key: bytes, password: Array(wrong.utf8))
            }
        }
    }

    @Test(arguments: ["client.p12", "nomac.p12", "triple.p12", "plain.p12"])
    func readsPKCS12(name: String) throws {
        let read = try files.read(name, isEncrypted: true)
        #expect(read.summary.subject == "CN=client,O=Test")
        #expect(read.chainCount == 2)
        // The file has the authority first; the order is that of TLS.
        #expect(read == (try files.read(name, format: .pkcs12, isEncrypted: true)))
        let chain = try files.bytes("client.pem") + files.bytes("middle.pem") + files.bytes("ca.pem")
        #expect(read == (try ClientCertificate.read(chain, key: try files.bytes("client.key"))))
        let bytes = try files.bytes(name)
        #expect(throws: ClientCertificate.Failure.passwordWrong) {
            try ClientCertificate.read(bytes, password: Array("wrong".utf8))
        }
        #expect(throws: ClientCertificate.Failure.passwordMissing) { try ClientCertificate.read(bytes) }
    }

    @Test func noPasswordIsAlsoAnEmptyOne() throws {
        #expect(try files.read("empty.p12").chainCount == 2)
        #expect(try ClientCertificate.read(try files.bytes("empty.p12"), password: []).chainCount == 2)
    }

    @Test("An encrypted part of PKCS#12 without content is damaged; OpenSSL before 3.0.19 would crash")
    func partWithoutContent() throws {
        func der(_ tag: UInt8, _ parts: [UInt8]...) -> [UInt8] {
            let bytes = parts.flatMap(\.self)
            let length: [UInt8] = bytes.count < 128 ? [UInt8(bytes.count)] : [0x81, UInt8(bytes.count)]
            return [tag] + length + bytes
        }
        let data: [UInt8] = [0x06, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 1]
        let encrypted: [UInt8] = [0x06, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 6]
        let tripleDES: [UInt8] = [0x06, 10, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 12, 1, 3]
        let algorithm = der(0x30, tripleDES, der(0x30, der(0x04, [UInt8](repeating: 1, count: 60)), der(0x02, [1])))
        let part = der(0x30, encrypted, der(0xA0, der(0x30, der(0x02, [0]), der(0x30, data, algorithm))))
        let safes = der(0x30, data, der(0xA0, der(0x04, der(0x30, part))))
        let file = der(0x30, der(0x02, [3]), safes)
        #expect(file[1] == 0x81)
        #expect(throws: ClientCertificate.Failure.unreadable(expected: "a PKCS#12 file", found: "a damaged one")) {
            try ClientCertificate.read(file, password: Array("secret".utf8))
        }
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00Z"), (-50_000_000_000, "0385-07-25T07:06:40Z"),
        (253_402_300_799, "9999-12-31T23:59:59Z"),
    ]) func writesTimes(seconds: Int64, text: String) {
        #expect(CertificateTime.text(seconds) == text)
    }

    @Test func saysWhoseItIs() throws {
        let read = try files.read("all.pem")
        #expect(read.summary.subject == "CN=client,O=Test" && read.summary.issuer == "CN=middle,O=Test")
        #expect(read.summary.serialNumber == "1234")
        #expect(read.summary.fingerprint.count == 64)
        #expect(read.summary.notAfter - read.summary.notBefore == 30 * 86_400)
        #expect("\(read)" == "client certificate CN=client,O=Test")
        var shown = ""
        dump(read, to: &shown)
        #expect(!shown.contains("key") && !shown.contains("digest"))
    }

    @Test func isEqualByItsContent() throws {
        let first = try files.read("chain.pem", key: "client.key")
        #expect(first == (try files.read("chain.pem", key: "sec1.key")))
        #expect(first.hashValue == (try files.read("all.pem")).hashValue)
        #expect(first != (try files.read("client.pem", key: "client.key")))
        #expect(first != (try files.read("stranger.pem", key: "stranger.key")))
    }

    @Test func aDateIsCheckedWhenItIsUsed() throws {
        let read = try files.read("all.pem")
        let (start, end) = (read.summary.notBefore, read.summary.notAfter)
        #expect(read.refusal(at: start) == nil && read.refusal(at: end) == nil)
        #expect(read.refusal(at: start - 1) == .notYetValid(start) && read.refusal(at: end + 1) == .expired(end))
        let failure = ClientCertificate.Failure.expired(1_792_700_705)
        #expect(failure.name == "expired" && failure.message.hasSuffix("2026-10-22T20:25:05Z"))
        #expect(ClientCertificate.Failure.notYetValid(0).message.hasSuffix("1970-01-01T00:00:00Z"))
    }

    @Test(arguments: [
        ("stranger.pem", "client.key", "key_mismatch", "none of the certificates"),
        ("client.pem", nil, "unreadable", "found a certificate alone"),
        ("client.key", nil, "unreadable", "found a private key alone"),
        ("public.pem", nil, "unreadable", "PUBLIC KEY"), ("client.csr", nil, "unreadable", "CERTIFICATE REQUEST"),
        ("nothing", nil, "unreadable", "found nothing"), ("log", nil, "unreadable", "found none"),
        ("client.der", nil, "unreadable", "openssl x509 -inform der"),
        ("client.pem", "client.der", "unreadable", "binary data"), ("client.pem", "nothing", "unreadable", "nothing"),
        ("client.pem", "ssh.key", "unreadable", "OpenSSH"), ("client.pem", "cut.key", "unreadable", "cut off"),
        ("client.pem", "public.pem", "unreadable", "PUBLIC KEY"), ("cut.p12", nil, "unreadable", "binary data"),
        ("client.p12", "client.key", "unreadable", "second text"), ("longer.pem", "client.key", "unreadable", "more"),
        ("rsa4104.pem", "rsa4104.key", "unsupported_key", "4104 bits"),
        ("three.pem", "three.key", "unsupported_key", "two primes"),
        ("rsa512.pem", "rsa512.key", "unsupported_key", "512 bits"), ("dsa.pem", "dsa.key", "unsupported_key", "DSA"),
        ("secp256k1.pem", "secp256k1.key", "unsupported_key", "secp256k1"),
    ]) func refuses(certificate: String, key: String?, name: String, words: String) throws {
        let failure = #expect(throws: ClientCertificate.Failure.self) { try files.read(certificate, key: key) }
        #expect(failure?.name == name)
        #expect(failure?.message.contains(words) == true, "\(failure?.message ?? "")")
        #expect(failure?.hint.isEmpty == false)
    }

    @Test(arguments: [
        ("legacy.p12", nil, "RC2"), ("client.pem", "des.key", "DES"), ("client.pem", "slow.key", "iterations"),
        ("slow.p12", nil, "iterations"),
    ]) func refusesWhatOpenSSLCannotDecryptOrTakesLong(certificate: String, key: String?, words: String) throws {
        let clock = ContinuousClock()
        let start = clock.now
        let failure = #expect(throws: ClientCertificate.Failure.self) {
            try files.read(certificate, key: key, isEncrypted: true)
        }
        #expect(failure?.name == "unsupported" && failure?.message.contains(words) == true, "\(failure?.message ?? "")")
        #expect(failure?.hint.contains("openssl") == true)
        #expect(clock.now - start < .seconds(10))
    }

    @Test func aFormatThatIsNamedIsTheOnlyOne() throws {
        #expect(throws: ClientCertificate.Failure.unreadable(expected: "a PKCS#12 file", found: "text")) {
            try files.read("all.pem", format: .pkcs12)
        }
        #expect(throws: ClientCertificate.Failure.unreadable(expected: "PEM text", found: "binary data (DER)")) {
            try files.read("client.p12", format: .pem, isEncrypted: true)
        }
        let failure = #expect(throws: ClientCertificate.Failure.self) { try files.read("nokey.p12", isEncrypted: true) }
        #expect(failure?.message == "expected a private key, found a certificate alone")
    }

    @Test func whatIsTooLargeIsNotRead() throws {
        let large = [UInt8](repeating: 0x30, count: ClientCertificate.maximumBytes + 1)
        for read in [{ try ClientCertificate.read(large) }, { try ClientCertificate.read([], key: large) }] {
            let failure = #expect(throws: ClientCertificate.Failure.self) { try read() }
            #expect(failure?.name == "unreadable")
        }
        let password = [UInt8](repeating: 0x30, count: 1_025)
        let failure = #expect(throws: ClientCertificate.Failure.self) {
            try ClientCertificate.read([], password: password)
        }
        #expect(failure?.message.contains("1025 bytes") == true)
    }

    @Test func leavesOpenSSLsErrorsAsTheyWere() throws {
        ERR_clear_error()
        for name in ["all.pem", "client.pem", "cut.p12", "legacy.p12", "client.p12", "client.der", "log"] {
            _ = try? files.read(name, isEncrypted: true)
            _ = try? files.read(name, key: "pbes2.key")
            #expect(ERR_peek_error() == 0)
        }
    }

    @Test func damageNeitherCrashesNorPasses() throws {
        let whole = try files.bytes("client.p12")
        for index in stride(from: 0, to: whole.count, by: 7) {
            var damaged = whole
            damaged[index] ^= 0x55
            // Whatever the byte means: the result is a failure, or a byte that nothing depends on.
            _ = try? ClientCertificate.read(damaged, password: TestCertificates.password)
        }
        let text = try files.bytes("all.pem")
        for index in stride(from: 0, to: text.count, by: 11) {
            var damaged = text
            damaged[index] ^= 0x15
            _ = try? ClientCertificate.read(damaged)
        }
    }
}

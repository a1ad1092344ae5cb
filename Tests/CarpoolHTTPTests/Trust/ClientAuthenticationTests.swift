import CarpoolSystem
import Glibc
import Testing

@testable import CarpoolHTTP

/// Client certificates in connections: which is presented, and what a failure is called, by the server's alert.
@Suite(.serialized, .timeLimit(.minutes(3)))
struct ClientAuthenticationTests {
    let files: TestCertificates

    init() throws { files = try TestCertificates.shared.get() }

    /// A request with a certificate and a body of so many bytes.
    private func ask(_ server: CertificateServer, _ certificate: String?, bytes: Int = 0) throws -> Ask {
        var ask = Ask(server.url)
        ask.trust = try .authorities(file: files.directory + "/ca.pem")
        ask.certificate = try certificate.map { try files.read($0 + ".pem", key: $0 + ".key") }
        if bytes > 0 {
            ask.method = "POST"
            ask.body = [UInt8](repeating: 0x78, count: bytes)
        }
        return ask
    }

    @Test(arguments: ["1.2", "1.3"], ["stranger", "rsa2048", "rsa4096", "pss", "ed25519", "p384", "p521", nil])
    func presentsTheCertificate(version: String, name: String?) async throws {
        let server = try CertificateServer(.init(version: version, isRequired: false), in: files.directory)
        defer { server.end() }
        let driver = try await Driver()
        for bytes in [0, 300_000] {
            let outcome = try await driver.fetch(try ask(server, name, bytes: bytes))
            #expect(outcome.error == nil)
            #expect(outcome.text == (name.map { "Test/\($0)" } ?? ""))
        }
        await driver.end()
    }

    @Test(
        "F8: a certificate that is missing or refused has its name each time, whatever the body and the closing",
        arguments: [("1.2", false), ("1.3", false), ("1.3", true)], [0, 3, 30])
    func f8Refusals(protocols: (version: String, offersHTTP2: Bool), linger: Int) async throws {
        let expected = [
            (nil, "client_certificate.required"), ("late", "client_certificate.expired"),
            ("lone", "client_certificate.rejected"), ("server", "client_certificate.rejected"),
        ]
        let driver = try await Driver()
        let policy = CertificateServer.Policy(
            version: protocols.version, lingerMilliseconds: linger, offersHTTP2: protocols.offersHTTP2)
        let server = try CertificateServer(policy, in: files.directory)
        for (certificate, name) in expected {
            for bytes in [0, 1_000, 300_000, 5_000_000] {
                let ask = try ask(server, certificate, bytes: bytes)
                for _ in 0..<(linger == 0 ? 10 : 3) {
                    let error = try await driver.fetch(ask).error
                    let isNamed = error?.code.rawValue == name && error?.isRetryable == false
                    #expect(
                        isNamed,
                        "\(certificate ?? "none"), \(bytes): \(error?.description ?? ""), \(error?.curlCode ?? 0)")
                }
            }
        }
        server.end()
        await driver.end()
    }

    @Test(
        arguments: [
            (40, "rejected", "required"), (42, "rejected", "required"), (43, "rejected", "required"),
            (44, "rejected", "required"), (45, "expired", "required"), (46, "rejected", "required"),
            (48, "rejected", "required"), (49, "rejected", "required"), (51, "rejected", "required"),
            (71, "rejected", "required"), (116, "rejected", "required"), (70, nil, nil), (80, nil, nil),
            (112, nil, nil),
        ] as [(Int32, String?, String?)])
    func namesEachAlert(alert: Int32, sent: String?, missing: String?) throws {
        let certificate = try files.read("stranger.pem", key: "stranger.key")
        var state = ClientAuthentication.State(certificate: certificate, alert: alert)
        #expect(state.error == nil, "an alert without a request has another cause")
        state.isRequested = true
        #expect(state.error?.code.rawValue == sent.map { "client_certificate.\($0)" })
        state.hasSentNone = true
        #expect(state.error?.code.rawValue == sent.map { _ in "client_certificate.rejected" })
        #expect(state.error?.message.contains("key of this kind") == (sent == nil ? nil : true))
        state.certificate = nil
        #expect(state.error?.code.rawValue == missing.map { "client_certificate.\($0)" })
        #expect(state.error?.isRetryable != true)
    }

    @Test func anExpiredCertificateIsNotSent() async throws {
        let server = try CertificateServer(.init(isRequired: false), in: files.directory)
        defer { server.end() }
        let driver = try await Driver()
        let error = try await driver.fetch(try ask(server, "expired")).error
        #expect(error?.code == .clientCertificateExpired && error?.isRetryable == false)
        #expect(error?.message.hasPrefix("the client certificate expired at 20") == true)
        #expect(try await driver.fetch(try ask(server, nil)).error == nil)
        await driver.end()
    }

    @Test func aWeakKeyIsRefusedAtTheSecurityLevel() async throws {
        let server = try CertificateServer(.init(isRequired: false), in: files.directory)
        defer { server.end() }
        let driver = try await Driver()
        let error = try await driver.fetch(try ask(server, "rsa1024")).error
        #expect(error?.code == .clientCertificateUnsupportedKey)
        #expect(error?.message.contains("ee key too small") == true && error?.message.contains("@SECLEVEL=0") == true)
        await driver.end()
    }

    @Test func connectionsBelongToTheirCertificate() async throws {
        let server = try CertificateServer(.init(isRequired: false), in: files.directory)
        defer { server.end() }
        let driver = try await Driver()
        for _ in 0..<3 {
            for name in ["stranger", nil, "p384", "rsa2048"] {
                #expect(try await driver.fetch(try ask(server, name)).text == (name.map { "Test/\($0)" } ?? ""))
            }
        }
        // The certificate is a different one with another key: the name of a file never counts.
        #expect(await driver.openConnections == 4)
        await driver.end()
    }
}

import CarpoolSystem
import Glibc
import Testing

@testable import CarpoolHTTP

/// The system's authorities, alone and with a caller's.
@Suite(.timeLimit(.minutes(1)))
struct SystemTrustTests {
    /// Used on the driver's loop only.
    private final class Subject: @unchecked Sendable {
        private var trust: SystemTrust?
        private let authorities: ServerTrust.Authorities
        private var isWaiting = false

        init(_ trust: SystemTrust, _ authorities: ServerTrust.Authorities) {
            self.trust = trust
            self.authorities = authorities
        }

        /// The store if it is loaded; begins to load it if not.
        func store() -> TrustStore? {
            guard let trust else { return nil }
            if trust.isReady(for: authorities) { return trust.store(for: authorities) }
            if !isWaiting {
                isWaiting = true
                trust.wait(for: authorities) { [self] in isWaiting = false }
            }
            return nil
        }

        /// Releases its object, which belongs to the loop's thread.
        func end() { trust = nil }
    }

    @Test("A caller's authorities are joined with the system's, once, and again when the system's file has changed")
    func joined() async throws {
        let files = try ServerCertificates.shared.get()
        let path = try makeTemporaryDirectory() + "/authorities.pem"
        func write(_ name: String) throws { try ChildProcess.run("cp \(files.path(name)).pem \(path)") }
        func authorities() throws -> ServerTrust.Authorities {
            .systemAnd(TrustedAuthorities(try TrustStore(pem: try files.bytes("alone.pem")), path: "alone.pem"))
        }
        try write("root")
        let driver = try await Driver()
        let (own, same) = (try authorities(), try authorities())
        let (first, second) = try #require(
            await driver.look { transport in
                let trust = SystemTrust(path: path, worker: Worker(loop: transport.loop), freshMilliseconds: 20)
                return (Subject(trust, own), Subject(trust, same))
            })
        func store(_ subject: Subject, where isWanted: (TrustStore) -> Bool = { _ in true }) async throws -> TrustStore
        {
            for _ in 0..<4_000 {
                if let store = await driver.look({ _ in subject.store() }) ?? nil, isWanted(store) { return store }
                try await Task.sleep(for: .milliseconds(5))
            }
            throw NoStore()
        }
        let before = try await store(first)
        #expect(before.count == 2)
        #expect(try await store(second) === before, "authorities of the same content share the store")
        #expect(before.issuer(of: try files.certificates(["middle"])[0]) != nil)
        #expect(before.issuer(of: try files.certificates(["alone"])[0]) != nil)
        try write("stranger")
        let after = try await store(first) { $0 !== before }
        #expect(after.issuer(of: try files.certificates(["middle"])[0]) == nil)
        #expect(after.issuer(of: try files.certificates(["leaf"])[0]) == nil, "it has another key number")
        #expect(after.issuer(of: try files.certificates(["alone"])[0]) != nil)
        await driver.look { _ in
            first.end()
            second.end()
        }
        await driver.end()
    }
}

/// The wanted store did not come in 20 seconds.
private struct NoStore: Error {}

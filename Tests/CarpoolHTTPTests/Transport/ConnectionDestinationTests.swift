import Testing

@testable import CarpoolHTTP

@Suite("Where the connection for an origin goes")
struct ConnectionDestinationTests {
    private func destination(
        of url: String, resolve: [String] = [], connectTo: [String] = []
    ) throws -> ConnectionDestination {
        let addresses = ConnectionAddresses(
            resolve: try resolve.map { try HostAddresses($0) }, connectTo: try connectTo.map { try HostReplacement($0) }
        )
        return addresses.destination(for: try HTTPURL(url).origin)
    }

    @Test("Without entries, to the host and port of the URL")
    func withoutEntries() throws {
        #expect(try destination(of: "https://a.example/") == ConnectionDestination(host: "a.example", port: 443))
        #expect(try destination(of: "http://[::1]:81/") == ConnectionDestination(host: "[::1]", port: 81))
    }

    @Test("The last entry for a host and port counts, and an entry for every host if there is none")
    func resolve() throws {
        let entries = [
            "*:443:10.0.0.9", "a.example:80:10.0.0.1", "a.example:443:10.0.0.3", "a.example:443:10.0.0.2,::2",
        ]
        let found = try destination(of: "https://A.example/", resolve: entries)
        #expect(found.addresses == ["10.0.0.2", "::2"])
        #expect(try destination(of: "https://b.example/", resolve: entries).addresses == ["10.0.0.9"])
        #expect(try destination(of: "https://b.example:444/", resolve: entries).addresses == [])
    }

    @Test(
        "The first replacement that matches and changes something counts",
        arguments: [
            (["a.example:443:b.example:1"], "b.example", 1), (["a.example:443:b.example:"], "b.example", 443),
            (["a.example:443::1"], "a.example", 1), (["::b.example:"], "b.example", 443),
            (["a.example:80:b.example:1"], "a.example", 443), (["c.example:443:b.example:1"], "a.example", 443),
            (["a.example:443::", "a.example:443:b.example:1"], "b.example", 1),
            (["::b.example:1", "a.example:443:c.example:2"], "b.example", 1),
            (["a.example::[::1]:"], "[::1]", 443),
        ])
    func connectTo(entries: [String], host: String, port: UInt16) throws {
        let found = try destination(of: "https://a.example/", connectTo: entries)
        #expect(found == ConnectionDestination(host: host, port: port))
    }

    @Test("The addresses are those of the host and port that replace the URL's")
    func both() throws {
        let found = try destination(
            of: "https://a.example/", resolve: ["a.example:443:10.0.0.1", "b.example:1:10.0.0.2"],
            connectTo: ["a.example:443:b.example:1"])
        #expect(found == ConnectionDestination(host: "b.example", port: 1, addresses: ["10.0.0.2"]))
    }
}

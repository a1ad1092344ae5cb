import CarpoolJSON
import Testing

@testable import CarpoolCLI

struct ReachabilityReportTests {
    private static let network = """
        {"status":"satisfied","interface":"eth0","supports_dns":true,"dns":{"servers":["10.0.0.1","10.0.0.2"]},\
        "ipv4":{"usable":true,"interface":"eth0","source":"10.0.0.7","gateway":"10.0.0.1"},\
        "ipv6":{"usable":false,"reason":"no_route"},"is_expensive":true}
        """

    private func report(_ network: String, host: String? = nil) throws -> ReachabilityReport {
        ReachabilityReport(
            try JSON.parse(Array(network.utf8)), host: try host.map { try JSON.parse(Array($0.utf8)) })
    }

    @Test func theTableSaysWhichWayPacketsGo() throws {
        #expect(
            try report(ReachabilityReportTests.network).lines == [
                "network     reachable over eth0", "IPv4        from 10.0.0.7 over eth0 by way of 10.0.0.1",
                "IPv6        no (no_route)", "DNS         10.0.0.1, 10.0.0.2", "traffic     metered",
            ])
    }

    @Test func theHostsAddressesComeLast() throws {
        let host = """
            {"host":"a.example","status":"unsatisfied","addresses":[{"address":"10.9.9.9","status":"unsatisfied",\
            "reason":"no_route","is_direct":false}]}
            """
        let report = try report(ReachabilityReportTests.network, host: host)
        #expect(report.lines.suffix(2) == ["a.example   not reachable", "            10.9.9.9: no (no_route)"])
        #expect(report.summary == "network reachable over eth0; a.example not reachable")
        #expect(!report.isUsable)
    }

    @Test(arguments: [
        ("satisfied", true), ("unknown", true), ("unsatisfied", false), ("requires_connection", false),
    ])
    func whatNobodyKnowsIsWorthATry(_ status: String, _ isUsable: Bool) throws {
        #expect(try report(#"{"status":"\#(status)"}"#).isUsable == isUsable)
    }

    @Test func whyThereIsNone() throws {
        #expect(
            try report(#"{"status":"unsatisfied","unsatisfied_reason":"no_carrier"}"#).summary
                == "network not reachable (no_carrier)")
        #expect(try report("{}").lines.count == 4)
    }
}

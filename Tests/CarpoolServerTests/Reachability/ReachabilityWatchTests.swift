import CarpoolJSON
import CarpoolReachability
@testable import CarpoolServer
import CarpoolSystem
import Testing

/// Watches of a network whose status the configuration overrides, so that a test can change it.
struct ReachabilityWatchTests {
    private static func settings(_ status: ReachabilityStatus) -> ReachabilitySettings {
        var settings = ReachabilitySettings()
        settings.manager.override = status
        return settings
    }

    private let stage: Stage
    private let client = FakeClient()

    init() throws { stage = try Stage { $0.reachability = Self.settings(.satisfied) } }

    private func turn(_ status: ReachabilityStatus) {
        stage.server.reachability.reconfigure(Self.settings(status))
        // Watches are notified in slices.
        let loop = stage.server.loop
        loop.arm(Timer { loop.stop() }, afterMilliseconds: 1)
        loop.run()
    }

    @Test func theStateIsInTheAnswerAndChangesFollow() throws {
        let answer = try stage.call(client, "reachability.watch", #"{"lost_after_ms":0,"min_interval_ms":0}"#)
        #expect(answer["reachability"]?["status"]?.string == "satisfied")
        turn(.unsatisfied)
        turn(.satisfied)
        let told = try client.told()
        #expect(told.map { $0["data"]?["reachability"]?["status"]?.string } == ["unsatisfied", "satisfied"])
        #expect(told.allSatisfy { $0["sub"]?.string == answer["sub"]?.string })
        #expect(told.map { $0["data"]?["previous"]?["status"]?.string } == ["satisfied", "unsatisfied"])
        #expect(told.map { $0["data"]?["reachability"]?["seq"]?.int } == [2, 3])
    }

    @Test func aLossWaitsAndABlipIsNotTold() throws {
        _ = try stage.call(client, "reachability.watch", #"{"lost_after_ms":60000,"min_interval_ms":0}"#)
        turn(.unsatisfied)
        #expect(try client.told().isEmpty)
        turn(.satisfied)
        #expect(try client.told().isEmpty)
        #expect(stage.server.reachability.manager.reading.sequence == 3, "a reader can see that something changed")
    }

    @Test func whoeverDoesNotReadGetsTheNewestState() throws {
        _ = try stage.call(client, "reachability.watch", #"{"lost_after_ms":0,"min_interval_ms":0}"#)
        client.isDrained = false
        for status in [ReachabilityStatus.unsatisfied, .satisfied, .unsatisfied] { turn(status) }
        #expect(try client.told().isEmpty)
        client.isDrained = true
        for watch in client.resources.watches.values { watch.send() }
        let told = try client.told()
        #expect(told.count == 1)
        #expect(told.first?["data"]?["lagged"]?.int == 2)
        #expect(told.first?["data"]?["reachability"]?["seq"]?.int == 4)
        #expect(told.first?["data"]?["previous"]?["seq"]?.int == 1)
        for watch in client.resources.watches.values { watch.send() }
        #expect(try client.told().count == 1, "nothing is sent twice")
    }

    @Test func aWatchThatHasEndedIsSilent() throws {
        let sub = try stage.call(client, "reachability.watch", #"{"lost_after_ms":0}"#)["sub"]?.string ?? ""
        #expect(try stage.call(client, "reachability.unwatch", #"{"sub":"\#(sub)"}"#)["changed"]?.bool == true)
        #expect(try stage.call(client, "reachability.unwatch", #"{"sub":"\#(sub)"}"#)["changed"]?.bool == false)
        turn(.unsatisfied)
        #expect(try client.told().isEmpty && stage.server.reachability.watchCount == 0)
    }

    @Test func hostsAreWatchedToo() throws {
        let answer = try stage.call(
            client, "reachability.watch", #"{"hosts":["192.0.2.7"],"lost_after_ms":0,"min_interval_ms":0}"#)
        #expect(answer["hosts"]?[index: 0]?["status"]?.string == "satisfied")
        turn(.unsatisfied)
        let hosts = try client.told().compactMap { $0["data"]?["hosts"]?[index: 0]?["status"]?.string }
        #expect(hosts == ["unsatisfied"])
    }

    @Test func anAddressNeedsNoLookUp() throws {
        let host = try stage.call(client, "reachability.get", #"{"host":"fe80::1%lo"}"#)["host"]
        #expect(host?["host"]?.string == "fe80::1%lo" && host?["dns"] == nil)
        #expect(host?["addresses"]?[index: 0]?["address"]?.string == "fe80::1")
    }

    @Test(arguments: [
        #"{"reachability":{"sentinels":["example.com"]}}"#, #"{"reachability":{"override":"maybe"}}"#,
        #"{"reachability":{"lost_after":1}}"#, #"{"reachability":{"receive_buffer_bytes":1}}"#,
    ])
    func sectionsThatAreRefused(_ text: String) throws {
        let folder = TemporaryFolder()
        let path = folder.write("config.json", text)
        let error = try #require(throws: ServerError.self) { try ServerConfiguration.read(from: path) }
        #expect(error.description.contains("configuration.reachability"))
    }

    @Test func aSectionIsRead() throws {
        let folder = TemporaryFolder()
        let path = folder.write(
            "config.json",
            """
            {"reachability": {"sentinels": ["192.0.2.1"], "lost_after_ms": 1, "back_after_ms": 2, "override": "unknown",
             "expensive_interfaces": ["usb*"], "constrained_interfaces": ["wlan0"], "resolv_conf": "/r",
             "receive_buffer_bytes": 8192}}
            """)
        let settings = try ServerConfiguration.read(from: path).reachability
        #expect(settings.manager.sentinels == [try #require(IPAddress("192.0.2.1"))])
        #expect(settings.listener.lostAfterMilliseconds == 1 && settings.listener.backAfterMilliseconds == 2)
        #expect(settings.manager.override == .unknown && settings.manager.resolverPath == "/r")
        #expect(settings.manager.expensiveInterfaces == ["usb*"] && settings.manager.receiveBufferBytes == 8_192)
        #expect(settings.manager.constrainedInterfaces == ["wlan0"])
    }
}

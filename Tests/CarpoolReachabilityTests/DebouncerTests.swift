import CarpoolReachability
import CarpoolSystem
import Testing

struct DebouncerTests {
    private var debouncer = Debouncer(Debouncer.Settings(), reported: .at(0, 1, .online))

    private func reported(_ action: Debouncer.Action) -> ReachabilityChange? {
        if case .report(let change) = action { change } else { nil }
    }

    private func deadline(_ action: Debouncer.Action) -> MonotonicTime? {
        if case .wait(let time) = action { time } else { nil }
    }

    private func offer(_ debouncer: inout Debouncer, _ sequence: Int, _ network: FakeNetwork, at time: Int)
        -> Debouncer.Action
    {
        debouncer.offer(
            .at(time, sequence, network), causes: .link, firstEvent: .at(time), at: .at(time))
    }

    @Test func aLossIsToldWhenItHasLasted() {
        var debouncer = debouncer
        #expect(deadline(offer(&debouncer, 2, .offline, at: 10)) == .at(260))
        #expect(deadline(offer(&debouncer, 3, .offline, at: 100)) == .at(260))
        let change = reported(debouncer.deadlineDidCome(.at(260, 3, .offline), at: .at(260)))
        #expect(change?.current.sequence == 3 && change?.previous.sequence == 1 && change?.isLoss == true)
        #expect(change?.firstEvent == .at(10) && change?.causes == .link)
    }

    @Test func aBlipIsNotTold() {
        var debouncer = debouncer
        _ = offer(&debouncer, 2, .offline, at: 10)
        guard case .none = offer(&debouncer, 3, .online, at: 110) else { return #expect(Bool(false)) }
        guard case .none = debouncer.deadlineDidCome(.at(260, 3, .online), at: .at(260)) else {
            return #expect(Bool(false))
        }
        #expect(deadline(offer(&debouncer, 4, .offline, at: 300)) == .at(550))
    }

    @Test func aReturnIsToldAtOnce() {
        var debouncer = Debouncer(Debouncer.Settings(), reported: .at(0, 1, .offline))
        let change = reported(offer(&debouncer, 2, .online, at: 10))
        #expect(change?.isReturn == true && change?.difference.level == .major)
        #expect(change?.difference.fields == ["status", "interface", "ipv4", "network_id", "dns", "gateways"])
    }

    @Test func withoutHysteresisALossIsToldAtOnce() {
        var settings = Debouncer.Settings()
        settings.lostAfterMilliseconds = 0
        settings.backAfterMilliseconds = 50
        var debouncer = Debouncer(settings, reported: .at(0, 1, .online))
        #expect(reported(offer(&debouncer, 2, .offline, at: 10))?.isLoss == true)
        #expect(deadline(offer(&debouncer, 3, .online, at: 1_000)) == .at(1_050))
    }

    @Test func changesKeepTheirDistance() {
        var settings = Debouncer.Settings()
        settings.lostAfterMilliseconds = 0
        var debouncer = Debouncer(settings, reported: .at(0, 1, .online))
        #expect(reported(offer(&debouncer, 2, .offline, at: 10)) != nil)
        #expect(deadline(offer(&debouncer, 3, .online, at: 20)) == .at(110))
        guard case .none = offer(&debouncer, 4, .offline, at: 30) else { return #expect(Bool(false)) }
        #expect(reported(offer(&debouncer, 5, .online, at: 120)) != nil)
    }

    @Test func detailsAreToldToThoseWhoWantThem() {
        var network = FakeNetwork.online
        network.observation.nameServers = []
        var debouncer = debouncer
        guard case .none = offer(&debouncer, 2, network, at: 10) else { return #expect(Bool(false)) }
        var settings = Debouncer.Settings()
        settings.level = .minor
        debouncer = Debouncer(settings, reported: .at(0, 1, .online))
        #expect(
            reported(offer(&debouncer, 2, network, at: 10))?.difference
                == ReachabilityDifference(
                    FakeNetwork.online.snapshot, network.snapshot))
    }

    @Test func interfacesThatTrafficDoesNotLeaveByDoNotMatter() {
        var network = FakeNetwork.online
        network.addLink(7, "docker0", kind: "bridge")
        network.addAddress(7, "172.17.0.1", 16)
        let difference = ReachabilityDifference(FakeNetwork.online.snapshot, network.snapshot)
        #expect(difference.level == nil && difference.fields.isEmpty)
    }

    @Test func addressesThatAreGone() throws {
        var other = FakeNetwork.online
        other.addAddress(2, "10.1.0.3")
        let change = ReachabilityChange(
            from: .at(0, 1, other), to: .at(1, 2, .online), causes: .address, firstEvent: .at(1))
        #expect(change.removedAddresses == [try #require(IPAddress("10.1.0.3"))])
        #expect(change.difference.level == .minor && change.difference.fields == ["addresses"])
        // The interface is down, but the kernel keeps its addresses: connections from them continue when it is up
        // again.
        let loss = ReachabilityChange(
            from: .at(0, 1, .online), to: .at(1, 2, .offline), causes: .link, firstEvent: .at(1))
        #expect(loss.removedAddresses.isEmpty)
    }
}

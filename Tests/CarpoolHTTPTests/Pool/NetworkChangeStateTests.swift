import CarpoolSystem
import Testing

@testable import CarpoolHTTP

struct NetworkChangeStateTests {
    @Test func anAddressIsGoneWhenItWasThereBefore() {
        var state = NetworkChangeState()
        state.change(to: ["10.0.0.1", "10.0.0.2"])
        #expect(state.lost.isEmpty)
        state.change(to: ["10.0.0.2"])
        #expect(state.lost == ["10.0.0.1"])
        state.change(to: ["10.0.0.2", "10.0.0.3"])
        #expect(state.lost == ["10.0.0.1"])
        state.change(to: ["10.0.0.1"])
        #expect(state.lost == ["10.0.0.2", "10.0.0.3"])
    }

    @Test func goneAddressesThatNobodyUsesAreForgotten() {
        var state = NetworkChangeState()
        state.change(to: ["10.0.0.1", "10.0.0.2"])
        state.change(to: [])
        state.keep { $0 == "10.0.0.1" }
        #expect(state.lost == ["10.0.0.1"])
    }

    @Test func oneFamilyIsPreferredOnlyWhereTheOtherIsOfNoUse() {
        var state = NetworkChangeState()
        #expect(state.onlyFamily == nil)
        state.use(.ipv4)
        #expect(state.onlyFamily == .ipv4)
        state.use(.all)
        #expect(state.onlyFamily == nil)
        state.use([])
        #expect(state.onlyFamily == nil)
    }

    @Test func whatNamesStandForIsNoOlderThanTheDoubt() {
        var state = NetworkChangeState()
        let start = MonotonicTime(nanoseconds: 1_000_000_000)
        #expect(state.dnsCacheSeconds(at: start) == nil)
        state.expireDNSCache(at: start)
        #expect(state.dnsCacheSeconds(at: start) == 0)
        #expect(state.dnsCacheSeconds(at: start.advanced(milliseconds: 2_900)) == 2)
        #expect(state.dnsCacheSeconds(at: start.advanced(milliseconds: 60_000)) == nil)
    }

    @Test(arguments: [
        ("http://127.0.0.1/", true), ("http://[::1]/", true), ("http://a.test/", false), ("http://a1.test/", false),
        ("http://db1/", false), ("http://a.b2/", false),
    ]) func tellsAddressesFromNames(url: String, isLiteral: Bool) throws {
        #expect(try HTTPURL(url).origin.isLiteral == isLiteral)
    }
}

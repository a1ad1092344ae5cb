import CarpoolSystem
import Testing

@testable import CarpoolHTTP

struct NetworkViewTests {
    @Test func anAddressIsGoneWhenItWasThereBefore() {
        var view = NetworkView()
        view.change(to: ["10.0.0.1", "10.0.0.2"])
        #expect(view.gone.isEmpty)
        view.change(to: ["10.0.0.2"])
        #expect(view.gone == ["10.0.0.1"])
        view.change(to: ["10.0.0.2", "10.0.0.3"])
        #expect(view.gone == ["10.0.0.1"])
        view.change(to: ["10.0.0.1"])
        #expect(view.gone == ["10.0.0.2", "10.0.0.3"])
    }

    @Test func goneAddressesThatNobodyUsesAreForgotten() {
        var view = NetworkView()
        view.change(to: ["10.0.0.1", "10.0.0.2"])
        view.change(to: [])
        view.keep { $0 == "10.0.0.1" }
        #expect(view.gone == ["10.0.0.1"])
    }

    @Test func oneFamilyIsPreferredOnlyWhereTheOtherIsOfNoUse() {
        var view = NetworkView()
        #expect(view.onlyFamily == nil)
        view.use(.ipv4)
        #expect(view.onlyFamily == .ipv4)
        view.use(.all)
        #expect(view.onlyFamily == nil)
        view.use([])
        #expect(view.onlyFamily == nil)
    }

    @Test func whatNamesStandForIsNoOlderThanTheDoubt() {
        var view = NetworkView()
        let start = MonotonicTime(nanoseconds: 1_000_000_000)
        #expect(view.nameSeconds(at: start) == nil)
        view.doubtNames(at: start)
        #expect(view.nameSeconds(at: start) == 0)
        #expect(view.nameSeconds(at: start.advanced(milliseconds: 2_900)) == 2)
        #expect(view.nameSeconds(at: start.advanced(milliseconds: 60_000)) == nil)
    }

    @Test(arguments: [
        ("http://127.0.0.1/", true), ("http://[::1]/", true), ("http://a.test/", false), ("http://a1.test/", false),
    ]) func tellsAddressesFromNames(url: String, isLiteral: Bool) throws {
        #expect(try HTTPURL(url).origin.isLiteral == isLiteral)
    }
}

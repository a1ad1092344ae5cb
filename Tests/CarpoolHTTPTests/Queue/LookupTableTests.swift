import CarpoolSystem
import Testing

@testable import CarpoolHTTP

struct LookupTableTests {
    private final class Element {}

    private typealias Table = LookupTable<Element>
    private typealias Owner = Table.Owner

    private static func begin(_ count: Int, for owner: Owner, in table: inout Table) -> [Element] {
        (0..<count).map { _ in Element() }.filter { table.begin($0, for: owner) }
    }

    @Test func aProcessHasALimit() {
        var table = Table()
        #expect(LookupTableTests.begin(100, for: Owner(user: 1, process: 1), in: &table).count == 64)
        #expect(LookupTableTests.begin(100, for: Owner(user: 1, process: 2), in: &table).count == 64)
    }

    @Test func abandonedLookupsDoNotCountAsRunning() {
        var table = Table()
        let owner = Owner(user: 1, process: 1)
        for _ in 0..<5 {
            for element in LookupTableTests.begin(64, for: owner, in: &table) {
                table.end(element, for: owner, abandoning: .init(name: "slow.example", time: .read()))
            }
        }
        let last = LookupTableTests.begin(1, for: owner, in: &table)
        #expect(last.isEmpty)
        table.sweep(isRunning: { _ in true }, isLookedUp: { _ in true })
        #expect(LookupTableTests.begin(1, for: owner, in: &table).isEmpty)
        table.sweep(isRunning: { _ in true }, isLookedUp: { _ in false })
        #expect(LookupTableTests.begin(100, for: owner, in: &table).count == 64)
    }

    @Test func endedLookupsMakeRoom() {
        var table = Table()
        let owner = Owner(user: 1, process: 1)
        let running = LookupTableTests.begin(64, for: owner, in: &table)
        table.end(running[0], for: owner, abandoning: nil)
        // A second end has no effect.
        table.end(running[0], for: owner, abandoning: nil)
        #expect(LookupTableTests.begin(2, for: owner, in: &table).count == 1)
        table.sweep(isRunning: { $0 === running[1] }, isLookedUp: { _ in true })
        #expect(LookupTableTests.begin(100, for: owner, in: &table).count == 63)
    }

    @Test func aUserLeavesSomeForOthers() {
        var table = Table()
        var counts: [Int] = []
        for user in 0..<3 as Range<UInt32> {
            counts.append(
                (0..<20).reduce(0) {
                    $0 + LookupTableTests.begin(64, for: Owner(user: user, process: $1), in: &table).count
                })
        }
        #expect(counts == [512, 256, 128])
    }

    @Test func thoseThatWaitAreReadyInTheirOrder() {
        var table = Table()
        let owner = Owner(user: 1, process: 1)
        let running = LookupTableTests.begin(64, for: owner, in: &table)
        let elements = (0..<4).map { _ in Element() }
        let places = elements.map { table.wait($0, for: owner) }
        #expect(places.map { table.position($0) } == [0, 1, 2, 3])
        #expect(table.takeReady().isEmpty)
        table.withdraw(places[1])
        table.withdraw(places[1])
        #expect(table.waiting == 3)
        #expect(table.waiting(of: 1) == 3)
        #expect(table.waiting(of: 2) == 0)
        for element in running.prefix(2) { table.end(element, for: owner, abandoning: nil) }
        let ready = table.takeReady()
        #expect(ready.count == 2)
        #expect(ready.first === elements[0])
        #expect(ready.last === elements[2])
        table.sweep(isRunning: { _ in false }, isLookedUp: { _ in false })
        let rest = table.takeReady()
        #expect(rest.first === elements[3])
        #expect(table.waiting == 0)
    }

    @Test func aProcessWithoutLookupsIsForgotten() {
        var table = Table()
        for process in 0..<1_000 as Range<Int32> {
            let owner = Owner(user: 1, process: process)
            for element in LookupTableTests.begin(2, for: owner, in: &table) {
                table.end(element, for: owner, abandoning: nil)
            }
            table.withdraw(table.wait(Element(), for: owner))
            _ = table.wait(Element(), for: owner)
            #expect(table.takeReady().count == 1)
            #expect(table.processes == 0)
        }
        let owner = Owner(user: 1, process: 1)
        let running = LookupTableTests.begin(2, for: owner, in: &table)
        table.end(running[0], for: owner, abandoning: .init(name: "slow.example", time: .read()))
        table.end(running[1], for: owner, abandoning: nil)
        #expect(table.processes == 1)
        table.sweep(isRunning: { _ in true }, isLookedUp: { _ in false })
        #expect(table.processes == 0)
    }
}

@testable import CarpoolServer
import CarpoolSystem
import Testing

struct EpochTests {
    private static let day: Int64 = 86_400_000
    /// Milliseconds after which the names begin again.
    private static let cycle: Int64 = 2_176_782_336

    @Test("Names have one width, in every minute of a month of each of twelve years")
    func width() {
        for year in 2026...2037 {
            let start = Int64(CivilDate(year: year, month: 12, day: 1).daysSince1970) * Self.day
            let widths = stride(from: start, to: start + 31 * Self.day, by: 60_000).map {
                Epoch.name(atMilliseconds: $0).utf8.count
            }
            #expect(Set(widths) == [6])
        }
    }

    @Test(
        "The smallest and the largest numbers",
        arguments: [
            (0, "000000"), (1, "000001"), (35, "00000z"), (36, "000010"), (60_466_175, "0zzzzz"),
            (60_466_176, "100000"), (Self.cycle - 1, "zzzzzz"), (Self.cycle, "000000"),
        ])
    func numbers(_ milliseconds: Int64, _ name: String) {
        #expect(Epoch.name(atMilliseconds: milliseconds) == name)
    }

    @Test(
        "Dates that are special to others",
        arguments: [
            CivilDate(year: 2028, month: 2, day: 29), CivilDate(year: 2038, month: 1, day: 19),
            CivilDate(year: 1970, month: 1, day: 1), CivilDate(year: 2100, month: 3, day: 1),
            CivilDate(year: 1969, month: 12, day: 31),
        ])
    func dates(_ date: CivilDate) {
        let names = (0..<24).map { Epoch.name(atMilliseconds: Int64(date.daysSince1970) * Self.day + $0 * 3_600_000) }
        #expect(Set(names).count == 24)
        #expect(names.allSatisfy { $0.utf8.count == 6 })
    }

    @Test("A name of now has digits and small letters")
    func now() {
        #expect(Epoch.make().wholeMatch(of: /[0-9a-z]{6}/) != nil)
    }
}

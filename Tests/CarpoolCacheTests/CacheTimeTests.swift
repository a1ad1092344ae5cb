import CarpoolCache
import Testing

struct CacheTimeTests {
    /// HF-05: the wall clock may be set; the other one is not.
    @Test func spansOfOneRunDoNotDependOnTheWallClock() {
        let start = CacheTime(wall: 1_000_000, uptime: 5_000)
        #expect(CacheTime(wall: 0, uptime: 7_000).milliseconds(since: start) == 2_000)
        #expect(CacheTime(wall: 1_003_000, uptime: nil).milliseconds(since: start) == 3_000)
        #expect(CacheTime(wall: 0, uptime: 1).milliseconds(since: CacheTime(wall: 500, uptime: nil)) == -500)
    }
}

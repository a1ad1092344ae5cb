import Testing

@testable import CarpoolCurl

struct CurlSpeedTests {
    @Test func theSpeedIsThatOfTheLastSamples() {
        var speed = CurlSpeed(samples: 3)
        #expect(speed.take(1_000, at: 1_000_000) == 1_000)
        #expect(speed.take(4_000, at: 2_000_000) == 2_000)
        #expect(speed.take(5_000, at: 3_000_000) == 2_000)
        #expect(speed.take(5_000, at: 4_000_000) == 500)
    }

    @Test func fewerBytesAreThoseOfAnotherRequest() {
        var speed = CurlSpeed(samples: 6)
        #expect(speed.take(9_000, at: 1_000_000) == 9_000)
        #expect(speed.take(500, at: 2_000_000) == 500)
    }
}

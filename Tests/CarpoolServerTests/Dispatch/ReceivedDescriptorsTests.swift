import Testing

@testable import CarpoolServer

/// Which line descriptors belong to, and which are left to be closed.
struct ReceivedDescriptorsTests {
    @Test func belongToTheLineThatReachesThem() {
        var received = ReceivedDescriptors()
        #expect(received.add([40], upTo: 20).isEmpty)
        received.begin(lineEndingAt: 10)
        #expect(received.count == 0)
        #expect(received.claim(0) == nil)
        #expect(received.end().isEmpty)
        received.begin(lineEndingAt: 20)
        #expect(received.count == 1)
        #expect(received.end() == [40])
        #expect(received.takeAll().isEmpty)
    }

    @Test func areGivenAwayOnce() {
        var received = ReceivedDescriptors()
        #expect(received.add([40, 41], upTo: 1).isEmpty)
        received.begin(lineEndingAt: 1)
        #expect(received.claim(1) == 41)
        #expect(received.claim(1) == nil)
        #expect(received.claim(2) == nil)
        #expect(received.claim(-1) == nil)
        #expect(received.end() == [40])
    }

    @Test func whatIsTooMuchOrTooOldIsLeftToBeClosed() {
        var received = ReceivedDescriptors()
        #expect(received.add([40], upTo: 1).isEmpty)
        #expect(received.add(Array(50..<70), upTo: 9) == [40, 66, 67, 68, 69])
        received.begin(lineEndingAt: 9)
        #expect(received.count == 16)
        #expect(received.takeAll() == Array(50..<66))
    }
}

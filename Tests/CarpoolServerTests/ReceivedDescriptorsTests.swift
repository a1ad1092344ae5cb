import Glibc
import Testing

@testable import CarpoolServer

/// Which line descriptors belong to, and what becomes of those that nobody wants.
struct ReceivedDescriptorsTests {
    /// A descriptor whose end can be seen from the other side of a pipe: its number may be somebody else's by then.
    private struct Watched {
        let descriptor: Int32
        private let other: Int32

        init() {
            var ends: [Int32] = [0, 0]
            #expect(pipe(&ends) == 0)
            (other, descriptor) = (ends[0], ends[1])
        }

        var isOpen: Bool {
            var entry = pollfd(fd: other, events: Int16(POLLIN), revents: 0)
            return poll(&entry, 1, 0) == 0
        }
    }

    @Test func belongToTheLineThatReachesThem() {
        var received = ReceivedDescriptors()
        let watched = Watched()
        received.add([watched.descriptor], upTo: 20)
        received.begin(lineEndingAt: 10)
        #expect(received.count == 0)
        #expect(received.claim(0) == nil)
        received.end()
        #expect(watched.isOpen)
        received.begin(lineEndingAt: 20)
        #expect(received.count == 1)
        received.end()
        #expect(!watched.isOpen)
    }

    @Test func areGivenAwayOnce() {
        var received = ReceivedDescriptors()
        let watched = [Watched(), Watched()]
        received.add(watched.map(\.descriptor), upTo: 1)
        received.begin(lineEndingAt: 1)
        #expect(received.claim(1) == watched[1].descriptor)
        #expect(received.claim(1) == nil)
        #expect(received.claim(2) == nil)
        #expect(received.claim(-1) == nil)
        received.end()
        #expect(!watched[0].isOpen)
        #expect(watched[1].isOpen)
        close(watched[1].descriptor)
    }
}

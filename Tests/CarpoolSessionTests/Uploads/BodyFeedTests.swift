import CarpoolHTTP
import Testing

@testable import CarpoolSession

/// A body that is supplied piece by piece.
@Suite struct BodyFeedTests {
    /// Supplies a piece and records the result.
    private func put(_ feed: BodyFeed, _ text: String, at offset: Int64? = nil, isLast: Bool = false) -> Answer {
        let answer = Answer()
        answer.token = feed.put(Array(text.utf8), at: offset, isLast: isLast) { answer.result = $0 }
        return answer
    }

    private final class Answer {
        var token = 0
        var result: Result<BodyFeed.Receipt, BodyFeed.Refusal>?
        var receipt: BodyFeed.Receipt? { try? result?.get() }
        var refusal: BodyFeed.Refusal? {
            guard case .failure(let refusal) = result else { return nil }
            return refusal
        }
    }

    private func read(_ feed: BodyFeed, atMost count: Int = 64) -> String {
        var bytes = [UInt8](repeating: 0, count: count)
        return bytes.withUnsafeMutableBytes { room in
            switch feed.read(into: room) {
            case .bytes(let count): String(decoding: room[..<count], as: UTF8.self)
            case .end: "<end>"
            case .wait: "<wait>"
            case .failed(let error): "<\(error.code.rawValue)>"
            }
        }
    }

    @Test func givesWhatItIsGiven() {
        let feed = BodyFeed(capacityBytes: 8)
        #expect(put(feed, "hello").receipt == .init(acceptedBytes: 5, offsetBytes: 5, roomBytes: 3))
        #expect(read(feed, atMost: 2) == "he")
        #expect(read(feed) == "llo")
        #expect(read(feed) == "<wait>")
        var calls = 0
        feed.onReady = { calls += 1 }
        #expect(put(feed, "!", isLast: true).receipt?.offsetBytes == 6)
        #expect(calls == 1)
        #expect(read(feed) == "!")
        #expect(read(feed) == "<end>")
        #expect(put(feed, "?").refusal == .ended)
    }

    @Test func whoeverGivesTooMuchWaits() {
        let feed = BodyFeed(capacityBytes: 8)
        #expect(put(feed, "12345678").receipt?.roomBytes == 0)
        let second = put(feed, "abcd")
        #expect(second.result == nil)
        #expect(read(feed, atMost: 3) == "123")
        #expect(second.result == nil)
        #expect(read(feed, atMost: 3) == "456")
        #expect(second.receipt?.offsetBytes == 12)
        #expect(read(feed) == "78abcd")
        // Longer than the buffer: taken when that is empty.
        #expect(put(feed, "0123456789").receipt?.acceptedBytes == 10)
    }

    @Test func fewWait() {
        let feed = BodyFeed(capacityBytes: 1)
        _ = put(feed, "0")
        for _ in 0..<4 { #expect(put(feed, "x").result == nil) }
        #expect(put(feed, "x").refusal == .tooManyWaiting(4))
    }

    @Test func canBeReadAgainWhileItIsWhole() {
        let feed = BodyFeed(capacityBytes: 8)
        _ = put(feed, "12345")
        #expect(read(feed) == "12345")
        #expect(feed.canRestart)
        feed.restart()
        #expect(read(feed) == "12345")
        _ = put(feed, "6789")
        #expect(!feed.canRestart)
        #expect(read(feed) == "6789")
    }

    @Test func offsetsTellWhatIsKnown() {
        let feed = BodyFeed()
        _ = put(feed, "hello")
        #expect(put(feed, "hello wo", at: 0).receipt?.acceptedBytes == 3)
        #expect(put(feed, "x", at: 9).refusal == .gap(expected: 8))
        #expect(put(feed, "rld", at: 8, isLast: true).receipt?.offsetBytes == 11)
        #expect(put(feed, "rld", at: 8, isLast: true).receipt?.acceptedBytes == 0)
        #expect(read(feed) == "hello world")
    }

    @Test func aLengthIsKept() {
        let feed = BodyFeed(lengthBytes: 5)
        _ = put(feed, "123")
        #expect(put(feed, "456").refusal == .tooLong(left: 2))
        #expect(put(feed, "4", isLast: true).refusal == .tooShort(missing: 1))
        _ = put(feed, "45")
        #expect(read(feed) == "12345")
        #expect(read(feed) == "<end>")
        #expect(read(BodyFeed(lengthBytes: 0)) == "<end>")
    }

    @Test func whoeverWaitsMayGoAway() {
        let feed = BodyFeed(capacityBytes: 4)
        _ = put(feed, "1234")
        let second = put(feed, "56")
        let third = put(feed, "78", isLast: true)
        feed.withdraw(second.token)
        #expect(second.result == nil)
        #expect(third.refusal == .gap(expected: 4))
        #expect(read(feed) == "1234")
        #expect(put(feed, "5", at: 4).receipt?.acceptedBytes == 1)
    }

    @Test func closingTellsWhoeverWaits() {
        let feed = BodyFeed(capacityBytes: 4)
        _ = put(feed, "1234")
        let second = put(feed, "56")
        feed.close()
        #expect(second.refusal == .over)
        #expect(put(feed, "7").refusal == .over)
        #expect(!feed.canRestart)
        #expect(read(feed) == "<request_body_stream_exhausted>")
    }
}

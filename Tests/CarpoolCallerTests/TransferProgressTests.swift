import CarpoolJSON
import Glibc
import Testing

@testable import CarpoolCaller

struct TransferProgressTests {
    private func progress(after records: String...) throws -> ProgressLine {
        var progress = TransferProgress()
        for record in records { progress.take(record: try JSON.parse(Array(record.utf8))) }
        return progress.line()
    }

    @Test func whatIsSentCountsUntilSomethingIsReceived() throws {
        let sent = #"{"finished":false,"sent_bytes":512,"sent_total_bytes":1024,"received_bytes":0}"#
        let line = try progress(after: sent)
        #expect((line.isUpload, line.received, line.total) == (true, 512, 1_024))
        let later = try progress(
            after: sent, #"{"finished":false,"sent_bytes":1024,"received_bytes":3,"total_bytes":6}"#)
        #expect((later.isUpload, later.received, later.total) == (false, 3, 6))
    }

    @Test func anAnswerWithoutABodyLeavesWhatWasSent() throws {
        let line = try progress(
            after: #"{"finished":false,"sent_bytes":512,"sent_total_bytes":1024}"#,
            #"{"finished":false,"received_bytes":0,"response":{"status":204}}"#)
        #expect((line.isUpload, line.received, line.total) == (true, 512, 1_024))
    }

    @Test func theBytesOfAnEarlierDownloadHaveNoPartInTheRate() throws {
        let line = try progress(
            after: #"{"finished":false,"received_bytes":700,"total_bytes":1000,"resumed_at_bytes":600}"#)
        #expect((line.received, line.earlier, line.total) == (700, 600, 1_000))
    }

    @Test func theTimeEndsWithTheTransfer() throws {
        var progress = TransferProgress()
        progress.take(record: try JSON.parse(Array(#"{"finished":true,"body":{"size_bytes":1000}}"#.utf8)))
        let time = progress.microseconds
        usleep(2_000)
        #expect(progress.microseconds == time)
    }

    @Test func theTotalStaysAtTheEnd() throws {
        let line = try progress(
            after: #"{"finished":false,"received_bytes":700,"total_bytes":1000}"#,
            #"{"outcome":{"ok":true},"body":{"size_bytes":1000}}"#)
        #expect((line.received, line.total) == (1_000, 1_000))
    }

    @Test func anotherAttemptBeginsAtZero() throws {
        let line = try progress(
            after: #"{"finished":false,"received_bytes":700,"total_bytes":1000}"#,
            #"{"finished":false,"received_bytes":0}"#, #"{"finished":false,"received_bytes":5}"#)
        #expect((line.received, line.earlier) == (5, 0))
    }

    @Test func aPausedRequestSaysSo() throws {
        let line = try progress(after: #"{"finished":false,"state":"suspended","received_bytes":5}"#)
        #expect(line.pause == .request)
    }
}

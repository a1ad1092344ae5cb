/// Counts the answers that the daemon has to write before it ends.
final class PendingAnswers {
    /// Finished requests with calls that have not been answered yet.
    var requestsWithWaitingCalls = 0
    /// Answers about requests that wait for a disk, a serializer or their client.
    var delayed = 0
}

/// Counts the answers that the daemon writes before it ends.
final class OwedAnswers {
    /// Finished requests of whose many callers some are not answered yet.
    var crowds = 0
    /// Answers about requests that wait for a disk, a serializer or their client.
    var delayed = 0
}

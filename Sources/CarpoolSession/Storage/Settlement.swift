internal import CarpoolSystem

/// Whether the received body of a request is completely written. Until then the end of its transfer, or of the request,
/// is deferred.
final class Settlement {
    /// Whether nothing waits any more.
    var isDone = false
    /// Ends the wait of a request that has failed.
    var timer: Timer?
}

public import CarpoolSystem

/// One running hop of a request: what ``Transport/start(_:delegate:)`` returns.
///
/// Every method may be called from a delegate's method, and none of them calls the delegate: their effects come
/// later. They do nothing after the task has completed.
public protocol TransportTask: AnyObject {
    /// The number of the task, unique in its transport.
    var id: Int { get }

    /// The request that is sent.
    var request: TransportRequest { get }

    /// Bytes of the request's body sent since its beginning; 0 again when the body is sent again from its first byte.
    var bodyPosition: Int64 { get }

    /// Whether the network is needed to complete it; false if a stored response is served.
    var needsNetwork: Bool { get }

    /// Cancels the task: it completes soon with ``TransportError/Code/cancelled``.
    func cancel()

    /// Pauses the task until ``resume()``; the answer to the next piece of its body must be
    /// ``BodyDisposition/pause``. A task that has not been started stays so. While it is paused, silence of the peer
    /// is not idle time, and its connection counts in no limit.
    func pause()

    /// Resumes the task after ``pause()``, or after its delegate has answered ``BodyDisposition/pause``.
    func resume()

    /// Changes the priority with which the task waits for its turn, after the tasks of its client that have that
    /// priority already. Does nothing once it has been started.
    func setPriority(_ priority: TransferPriority)

    /// Lengthens its idle timeout, and moves the end of its time, to these where they are later: for one whose response
    /// others than its request get too.
    func extendTimeouts(idleMilliseconds: Int, resourceEnd: MonotonicTime)
}

extension TransportTask {
    /// True.
    public var needsNetwork: Bool { true }

    /// Does nothing: for a task without timeouts.
    public func extendTimeouts(idleMilliseconds: Int, resourceEnd: MonotonicTime) {}
}

internal import CarpoolJSON
internal import CarpoolRPC

/// A call that waits for its answer, without its parameters and its client.
protocol Responder: AnyObject {
    /// Called if the call is cancelled, or its connection lost, before it is answered.
    var onCancel: () -> Void { get set }
    /// Answers with a result. Only the first answer counts.
    func answer(_ write: @escaping (inout JSONWriter) -> Void)
    /// Answers with an error. Only the first answer counts.
    func fail(_ error: RPCError)
}

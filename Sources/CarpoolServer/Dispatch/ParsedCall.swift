internal import CarpoolRPC

/// The parameters of a call, read by a thread.
final class PreparedCall {
    let params: Result<Params, RPCError>
    let parts: PreparedParts?

    init(params: Result<Params, RPCError>, parts: PreparedParts?) {
        self.params = params
        self.parts = parts
    }
}

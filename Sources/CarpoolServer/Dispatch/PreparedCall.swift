internal import CarpoolRPC

/// What a thread has made of the parameters of a call.
final class PreparedCall {
    let params: Result<Params, RPCError>
    let parts: PreparedParts?

    init(params: Result<Params, RPCError>, parts: PreparedParts?) {
        self.params = params
        self.parts = parts
    }
}

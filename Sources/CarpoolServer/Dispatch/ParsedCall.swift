internal import CarpoolRPC

/// The parameters of a large call, parsed by a worker.
final class ParsedCall {
    let params: Result<Params, RPCError>
    let parts: ParsedParts?

    init(params: Result<Params, RPCError>, parts: ParsedParts?) {
        self.params = params
        self.parts = parts
    }
}

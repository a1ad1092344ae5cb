internal import CarpoolJSON
internal import CarpoolRPC

/// `rpc.*`: the catalogue of methods, and cancelling calls.
struct RPCHandlers {
    /// The OpenRPC document.
    let document: () -> [UInt8]

    var table: [String: Handler] { ["rpc.discover": discover, "rpc.cancel": cancel] }

    private func discover(_ call: Call) throws(RPCError) -> Answer {
        .result { $0.raw(document()) }
    }

    /// Cancels a call of the same connection; an unknown one is no error, since its answer may be on the way.
    private func cancel(_ call: Call) throws(RPCError) -> Answer {
        let target = call.params["id"].flatMap(RPCID.init).flatMap { call.client.resources.calls[$0] }
        target?.cancel(withRequest: call.params["request"]?.bool ?? false)
        return .result { StateChange.write(target != nil, state: target == nil ? "unknown" : "cancelled", to: &$0) }
    }
}

internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSystem

/// A hash of a call's parameters, to detect an idempotency key that is used for different requests.
enum Fingerprint {
    /// The hash of the parameters of a call that has an idempotency key; 0 otherwise.
    static func parameterHash(of call: Call) -> UInt64 {
        guard call.params["key"] != nil else { return 0 }
        return call.parts?.fingerprint ?? of(call.params)
    }

    /// The hash of the parameters' JSON. It detects mistakes of a client, not attacks.
    static func of(_ params: Params) -> UInt64 {
        var writer = JSONWriter()
        params.write(to: &writer)
        return writer.withBytes { StableHash($0).value }
    }
}

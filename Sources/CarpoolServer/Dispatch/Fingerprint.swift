internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSystem

/// A short stand-in for parameters, to tell whether two calls ask for the same.
enum Fingerprint {
    /// That of a call that has a key; 0 for others.
    static func ofKeyed(_ call: Call) -> UInt64 {
        guard call.params["key"] != nil else { return 0 }
        return call.parts?.fingerprint ?? of(call.params)
    }

    /// Over the parameters' JSON: it guards against mistakes of one client, not against attacks.
    static func of(_ params: Params) -> UInt64 {
        var writer = JSONWriter()
        params.write(to: &writer)
        return writer.withBytes { StableHash($0).value }
    }
}

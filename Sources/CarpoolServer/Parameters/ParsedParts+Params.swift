internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession

extension ParsedParts {
    /// Reads the parts, on any thread. Leaves no tree of a large value with the parameters.
    convenience init(_ params: Params) {
        let (body, values, encoding) = (params[.body], params[.parameters], params[.encoding])
        let bytes = Result { () throws(RPCError) -> [UInt8]? in
            guard let body, body.kind == .object else { return nil }
            return try RequestParametersDecoder.bytes(body, path: "params.body")
        }
        let parameters = Result { () throws(RPCError) -> EncodedParameters? in
            // With a body they are refused.
            guard body == nil, let value = try EncodingReader().parameters(values) else { return nil }
            return EncodedParameters(value, try EncodingReader().encoding(encoding))
        }
        self.init(
            body: bytes, parameters: parameters, fingerprint: params[.key] == nil ? nil : Fingerprint.of(params))
        params.freeLargeValues()
    }
}

internal import CarpoolRPC

/// A large message, parsed by a worker, since parsing it on the loop would block all clients.
enum ParsedInput {
    /// A call with its checked parameters, or why they are refused.
    case request(RPCRequest, ParsedCall)
    /// Anything else.
    case input(RPCInput)

    /// Parses a message, on any thread. Refused parameters are released there.
    init(_ text: MessageText, isInBatch: Bool, _ catalogue: Catalogue) {
        let input = RPCInput.parse(text, isInBatch: isInBatch)
        guard case .single(.request(let request)) = input else {
            self = .input(input)
            return
        }
        self = .request(request.withoutParameters, ParsedCall(request, catalogue))
    }

    /// Messages of fewer bytes, large strings not counted, are read on the loop: that takes at most 10 ms.
    static let structureBytes = 16_384
    /// Messages of fewer bytes are scanned on the loop: that takes at most 6 ms.
    static let bytes = 262_144
}

extension ParsedCall {
    /// Reads the parameters of a call, on any thread.
    convenience init(_ request: RPCRequest, _ catalogue: Catalogue) {
        // An unknown method is refused before its parameters are read.
        guard let method = catalogue[request.method] else {
            self.init(params: .success(.none), parts: nil)
            return
        }
        let params = Result { () throws(RPCError) in try catalogue.bind(params: request.params, of: method) }
        guard case .success(let bound) = params, ParsedParts.methods.contains(method.name) else {
            self.init(params: params, parts: nil)
            return
        }
        self.init(params: params, parts: ParsedParts(bound))
    }
}

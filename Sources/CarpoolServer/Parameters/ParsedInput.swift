internal import CarpoolRPC

/// A message that a thread has read, because reading it on the loop would block all clients.
enum PreparedInput {
    /// A call with its checked parameters, or why they are refused.
    case request(RPCRequest, PreparedCall)
    /// Anything else.
    case input(RPCInput)

    /// Reads a message, on any thread. Refused parameters are released there.
    init(_ text: MessageText, isInBatch: Bool, _ catalogue: Catalogue) {
        let input = RPCInput.parse(text, isInBatch: isInBatch)
        guard case .single(.request(let request)) = input else {
            self = .input(input)
            return
        }
        self = .request(request.withoutParameters, PreparedCall(request, catalogue))
    }

    /// Messages of fewer bytes, large strings not counted, are read on the loop: that takes at most 10 ms.
    static let structureBytes = 16_384
    /// Messages of fewer bytes are scanned on the loop: that takes at most 6 ms.
    static let bytes = 262_144
}

extension PreparedCall {
    /// Reads the parameters of a call, on any thread.
    convenience init(_ request: RPCRequest, _ catalogue: Catalogue) {
        // An unknown method is refused before its parameters are read.
        guard let method = catalogue[request.method] else {
            self.init(params: .success(.none), parts: nil)
            return
        }
        let params = Result { () throws(RPCError) in try catalogue.bind(params: request.params, of: method) }
        guard case .success(let bound) = params, PreparedParts.methods.contains(method.name) else {
            self.init(params: params, parts: nil)
            return
        }
        self.init(params: params, parts: PreparedParts(bound))
    }
}

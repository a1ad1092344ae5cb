internal import CarpoolJSON
internal import CarpoolRPC

/// A function that carries out a method: it takes a call with checked parameters, and returns an answer or throws an
/// error.
typealias Handler = (Call) throws(RPCError) -> Answer

/// Finds the handler of a request, in a table made from the catalogue and the handlers.
struct Dispatcher {
    private struct Entry {
        let method: Method
        let handler: Handler
    }

    let catalogue: Catalogue
    private var entries: [String: Entry] = [:]
    /// Methods that are served even if the connection has too many calls in flight: they reduce that number.
    private static let alwaysServed: Set<String> = ["rpc.cancel", "$/cancelRequest", "request.credit"]

    /// Joins a catalogue with its handlers. Methods without a handler are refused as not found.
    init(catalogue: Catalogue, handlers: [String: Handler]) {
        self.catalogue = catalogue
        for method in catalogue.methods {
            guard let handler = handlers[method.name] else { continue }
            let entry = Entry(method: method, handler: handler)
            entries[method.name] = entry
            for alias in method.aliases { entries[alias] = entry }
        }
    }

    /// Names that have a handler, aliases included.
    var names: Set<String> { Set(entries.keys) }

    /// Dispatches one request. The returned call may have been answered already.
    func dispatch(
        _ request: RPCRequest, parsed: ParsedCall? = nil, messageBytes: Int = 0, from client: any Client,
        batch: Batch?, underWay: Int, limit: Int, isDuplicate: Bool
    ) -> Call {
        func refuse(_ error: RPCError) -> Call {
            let call = Call(id: request.id, params: .none, client: client, batch: batch)
            call.fail(error)
            return call
        }
        guard let entry = entries[request.method] else { return refuse(catalogue.methodNotFound(request.method)) }
        if isDuplicate, let id = request.id { return refuse(.duplicateID(id)) }
        if underWay >= limit, !Dispatcher.alwaysServed.contains(request.method) {
            return refuse(.tooManyInFlight("running calls", limit: limit))
        }
        guard client.role >= entry.method.role else {
            return refuse(.forbidden(method: request.method, role: entry.method.role.rawValue))
        }
        do throws(RPCError) {
            let params: Params
            if let parsed {
                params = try parsed.params.get()
            } else {
                params = try catalogue.bind(params: request.params, of: entry.method)
            }
            let call = Call(
                id: request.id, params: params, client: client, batch: batch, messageBytes: messageBytes)
            call.parts = parsed?.parts
            do throws(RPCError) {
                if case .result(let write) = try entry.handler(call) { call.answer(write) }
            } catch {
                call.fail(error)
            }
            return call
        } catch {
            return refuse(error)
        }
    }
}

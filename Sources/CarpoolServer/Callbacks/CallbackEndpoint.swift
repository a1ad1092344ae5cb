internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolSession

/// Sends the questions of one callback: to which client, and how.
struct CallbackEndpoint {
    let broker: CallbackBroker
    let specification: CallbackSpecification
    /// The connection that made the call, unless a session asks.
    let origin: Int?
    /// The user whose connections may be asked.
    let client: ClientIdentity

    /// Asks about a request.
    func ask<Value>(
        _ method: StaticString, about request: Request, outlivesRequest: Bool = false,
        members: @escaping (inout JSONWriter, CallbackQuestion.Detail) -> Void,
        read: @escaping (JSON) throws(JSONError) -> Value,
        completion: @escaping (Result<Value, SessionError>) -> Void
    ) {
        var question = CallbackQuestion(method, specification, about: request, members: members)
        question.outlivesRequest = outlivesRequest
        broker.ask(question, origin: origin, client: client, read: read, completion: completion)
    }

    /// Asks about a challenge.
    func ask<Value>(
        _ method: StaticString, about subject: ChallengeDecider.Subject,
        members: @escaping (inout JSONWriter, CallbackQuestion.Detail) -> Void,
        read: @escaping (JSON) throws(JSONError) -> Value,
        completion: @escaping (Result<Value, SessionError>) -> Void
    ) {
        let question = CallbackQuestion(method, specification, about: subject, members: members)
        broker.ask(question, origin: origin, client: client, read: read, completion: completion)
    }

    /// Asks about a session.
    func ask<Value>(
        _ method: StaticString, about session: Session,
        members: @escaping (inout JSONWriter, CallbackQuestion.Detail) -> Void,
        read: @escaping (JSON) throws(JSONError) -> Value,
        completion: @escaping (Result<Value, SessionError>) -> Void
    ) {
        let question = CallbackQuestion(method, specification, about: session, members: members)
        broker.ask(question, origin: origin, client: client, read: read, completion: completion)
    }

    /// Asks about a server.
    func ask<Value>(
        _ method: StaticString, members: @escaping (inout JSONWriter, CallbackQuestion.Detail) -> Void,
        read: @escaping (JSON) throws(JSONError) -> Value,
        completion: @escaping (Result<Value, SessionError>) -> Void
    ) {
        let question = CallbackQuestion(method, specification, members: members)
        broker.ask(question, origin: origin, client: client, read: read, completion: completion)
    }

    /// The error that the client has answered with, if it fails the request.
    func refusal(in answer: JSON) -> SessionError? {
        guard let message = answer["fail"]?["message"]?.string else { return nil }
        return .clientRefused(specification.name, message: message)
    }

    /// Asks about the response of a request. A body that is too large for a line is moved to a file first; without room
    /// in the spool the client gets only its size.
    func askAboutResponse<Value>(
        _ method: StaticString, of request: Request, read: @escaping (JSON) throws(JSONError) -> Value,
        completion: @escaping (Result<Value, SessionError>) -> Void
    ) {
        guard broker.record.mustSpill(request, maximumEncodedBytes: broker.inlineBodyBytes) else {
            return ask(method, about: request, members: response(of: request), read: read, completion: completion)
        }
        request.spillBody { _ in
            ask(method, about: request, members: response(of: request), read: read, completion: completion)
        }
    }

    /// Writes the response and its body as they are now.
    private func response(of request: Request) -> (inout JSONWriter, CallbackQuestion.Detail) -> Void {
        let (record, head, url, body) = (broker.record, request.response, request.url, request.body)
        return { writer, detail in
            if let head {
                writer.key("response")
                record.write(head, url: url, detail.head, to: &writer)
            }
            writer.key("body")
            CallbackBody.write(body, atMost: detail.bodyBytes, to: &writer)
        }
    }
}

import CarpoolHTTP
import Testing

@testable import CarpoolSession

/// The orders of the session model, §2.6, and what becomes of bodies that are needed again.
struct UploadOrderTests {
    private static let created = ["requestDidResume", "didCreateInitialURLRequest"]
    private static let tasked = ["didCreateURLRequest", "didCreateTask", "didResumeTask"]

    /// A body that somebody makes when it is asked for.
    private final class Maker: Uploadable {
        var canRepeat = true
        var contentType: String? { "text/x-made" }
        var questions: [(Result<CreatedUpload, SessionError>) -> Void] = []

        func makeBody(for request: Request, completion: @escaping (Result<CreatedUpload, SessionError>) -> Void) {
            questions.append(completion)
        }

        func answer(_ body: RequestBody) {
            let kind = CreatedUpload(body).kind
            questions.removeFirst()(.success(CreatedUpload(body: body, kind: kind)))
        }
    }

    private func upload(_ stage: Stage, _ body: RequestBody, by maker: Maker? = nil) -> Request {
        stage.send {
            $0.method = .post
            $0.kind = .upload
            $0.body = body
            $0.uploadable = maker
        }
    }

    @Test("§2.6: bytes")
    func bytes() throws {
        let stage = try Stage()
        _ = upload(stage, .bytes(Array("hello".utf8)))
        stage.transport.begin()
        stage.transport.send(5)
        stage.transport.respond(200, body: "x")
        let sent = [
            "uploadProgress(0 of 5)", "task.didSendBodyData(5)", "uploadProgress(5 of 5)",
            "data.didReceiveResponse(200)", "data.didReceiveData(1)",
        ]
        let completed = metrics + ["task.didComplete(null)", "didCompleteTask(null)"] + ending
        #expect(stage.monitor.events == Self.created + ["didCreateUploadable(data)"] + Self.tasked + sent + completed)
    }

    @Test("§2.6: a stream")
    func stream() throws {
        let stage = try Stage()
        let feed = BodyFeed()
        let request = upload(stage, .source(feed))
        stage.transport.begin()
        #expect(request.feed === feed)
        let needed = ["task.needsNewBodyStream", "didProvideInputStream", "uploadProgress(0 of ?)"]
        #expect(stage.monitor.take() == Self.created + ["didCreateUploadable(stream)"] + Self.tasked + needed)
        #expect(stage.transport.requests[0].isLong)
        stage.transport.respond(200)
        #expect(request.feed == nil)
        var refusal: BodyFeed.Refusal?
        feed.put([1]) { if case .failure(let reason) = $0 { refusal = reason } }
        #expect(refusal == .over)
    }

    @Test("UP-03: a body that cannot be made")
    func fails() throws {
        let stage = try Stage()
        let maker = Maker()
        let request = upload(stage, .none, by: maker)
        maker.questions.removeFirst()(.failure(.scripted))
        let failed = ["didFailToCreateUploadable(create_uploadable_failed)"] + ending("create_uploadable_failed")
        #expect(stage.monitor.events == Self.created + failed)
        #expect(request.error?.cause("underlying")?.name == "scripted")
        #expect(stage.transport.transfers.isEmpty)
    }

    @Test("UP-04: a body is made anew for every attempt")
    func retries() throws {
        let stage = try Stage()
        let interceptor = ScriptedInterceptor()
        interceptor.decisions = [.retry]
        let maker = Maker()
        let request = stage.send {
            $0.method = .post
            $0.kind = .upload
            $0.uploadable = maker
            $0.interceptor = Interceptor(interceptors: [interceptor])
        }
        maker.answer(.bytes([1]))
        stage.transport.complete(TransportError(.networkConnectionLost, "lost"))
        stage.scheduler.advance(milliseconds: 0)
        maker.answer(.bytes([1, 2]))
        stage.transport.respond(200)
        #expect(request.error == nil)
        #expect(stage.transport.requests.map(\.body.lengthBytes) == [1, 2])
        #expect(stage.transport.requests.allSatisfy { $0.fields.contains { $0.value == "text/x-made" } })
    }

    @Test("UP-05: what was sent in part is asked for anew on another connection")
    func renewal() throws {
        let stage = try Stage()
        let maker = Maker()
        let request = upload(stage, .none, by: maker)
        maker.answer(.source(BodyFeed()))
        stage.transport.complete(TransportError(.requestBodyStreamExhausted, "gone", needsBodyAgain: true))
        #expect(request.attempts.count == 1)
        maker.answer(.source(BodyFeed()))
        stage.transport.respond(200)
        #expect(request.error == nil)
        #expect(request.attempts[0].hops.count == 2)
    }

    @Test("UP-05: a body that has failed is not made again")
    func failure() throws {
        let stage = try Stage()
        let maker = Maker()
        let request = upload(stage, .none, by: maker)
        maker.answer(.source(BodyFeed()))
        stage.transport.complete(TransportError(.requestBodyStreamExhausted, "ended early"))
        #expect(request.error?.name == "session_task_failed.request_body_stream_exhausted")
        #expect(stage.transport.transfers.count == 1)
    }

    @Test("UP-05: cancelled while a body is asked for anew")
    func cancelledMeanwhile() throws {
        let stage = try Stage()
        let maker = Maker()
        let request = upload(stage, .none, by: maker)
        maker.answer(.source(BodyFeed()))
        stage.transport.complete(TransportError(.requestBodyStreamExhausted, "gone", needsBodyAgain: true))
        request.cancel()
        #expect(request.isFinished)
        #expect(request.error?.name == "explicitly_cancelled")
        maker.answer(.bytes([]))
        #expect(stage.transport.transfers.count == 1)
    }

    @Test("UP-05: an origin that never takes a body is not asked for ever")
    func bounded() throws {
        let stage = try Stage()
        let maker = Maker()
        let request = upload(stage, .none, by: maker)
        for _ in 0..<40 {
            guard !maker.questions.isEmpty else { break }
            maker.answer(.source(BodyFeed()))
            stage.transport.complete(TransportError(.requestBodyStreamExhausted, "gone", needsBodyAgain: true))
        }
        #expect(request.error?.name == "session_task_failed.too_many_hops")
        #expect(stage.transport.transfers.count == 40)
    }

    @Test("UP-05: what is gone is not sent to where a redirect points")
    func redirects() throws {
        let stage = try Stage()
        let feed = BodyFeed(capacityBytes: 2)
        let request = upload(stage, .source(feed))
        feed.put([1, 2]) { _ in }
        withUnsafeTemporaryAllocation(byteCount: 2, alignment: 1) { _ = feed.read(into: $0) }
        feed.put([3, 4]) { _ in }
        stage.transport.respond(307, [("Location", "/other")])
        #expect(request.error?.name == "session_task_failed.request_body_stream_exhausted")
    }
}

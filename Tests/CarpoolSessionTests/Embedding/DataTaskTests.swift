import CarpoolHTTP
import CarpoolJSON
@testable import CarpoolSession
import Testing

/// Waiting for values (AS-01 to AS-03), and the calls of requests under the model's names.
struct DataTaskTests {
    private let url: String

    init() throws { url = try Nginx.shared.get().url }

    @Test func as01ValuesResultsAndResponses() throws {
        try Session.run { [url] session async throws in
            let json = session.request("\(url)/json").validate().serializingJSON()
            #expect(try await json.value["born"]?.int == 1815)
            #expect(try await json.result.get()["name"]?.string == "Ada")
            let response = await json.response
            #expect(response.response?.status == 200)
            #expect(response.data?.count == 29)
            #expect(response.attempts.count == 1)
            #expect(response.metrics?.httpVersion == "http/1.1")
            #expect(response.timeline.totalDuration ?? -1 >= 0)
            #expect(response.serializationDurationMicroseconds >= 0)
            #expect(response.request?.url.description == "\(url)/json")
            #expect(response.error == nil)
        }
    }

    @Test func as01AFailureIsAResponseWithItsBody() throws {
        try Session.run { [url] session async throws in
            let task = session.request("\(url)/missing").validate().serializingJSON()
            let response = await task.response
            #expect(response.error?.name == "response_validation_failed.unacceptable_status_code")
            #expect(response.value == nil)
            #expect(response.data.map { String(decoding: $0, as: UTF8.self) } == "nothing here")
        }
    }

    @Test func as01SeveralValuesOfOneRequest() throws {
        try Session.run { [url] session async throws in
            let request = session.request("\(url)/text")
            let text = request.serializingString()
            let json = request.serializingJSON()
            let length = request.serializingResponse { _, bytes in bytes.count }
            #expect(try await text.value == "GET /text ")
            #expect(try await length.value == 10)
            #expect(await json.response.error?.name == "response_serialization_failed.json_serialization_failed")
            // Once it is over, another serializer works on the body that is there (RL-17).
            #expect(try await request.serializingData().value.count == 10)
            #expect(request.attempts.count == 1)
        }
    }

    @Test func as01ClosuresFailWithWhatTheyThrow() throws {
        try Session.run { [url] session async throws in
            let task: DataTask<Int> = session.request("\(url)/text").serializingResponse { _, _ in throw Odd() }
            #expect(await task.response.error?.name == "response_serialization_failed.custom_serialization_failed")
            let wrong = session.request("\(url)/text").serializingResponse(using: XSSI())
            #expect(await wrong.response.error?.name == "scripted")
        }
    }

    @Test func as02ACancelledTaskCancelsItsRequest() throws {
        try Session.run { [url] session async throws in
            for cancelsLater in [false, true] {
                let request = session.request("\(url)/slow")
                let task = Task {
                    _ = session
                    return await request.serializingData().response.error?.name
                }
                if cancelsLater { await request.headersCome() }
                task.cancel()
                #expect(await task.value == "explicitly_cancelled")
                #expect(request.state == .cancelled)
            }
        }
    }

    @Test func as02UnlessItIsNotToBeCancelled() throws {
        try Session.run { [url] session async throws in
            let request = session.request("\(url)/text")
            let task = Task {
                _ = session
                return try await request.serializingString(automaticallyCancelling: false).value
            }
            task.cancel()
            #expect(try await task.value == "GET /text ")
        }
    }

    @Test func as03TheTaskHandsOnToItsRequest() throws {
        var configuration = SessionConfiguration()
        configuration.startsRequestsImmediately = false
        try Session.run(configuration) { [url] session async throws in
            let task = session.request("\(url)/text").serializingString()
            #expect(task.request.state == .initialized)
            task.resume()
            task.suspend()
            #expect(task.request.state == .suspended)
            task.resume()
            #expect(try await task.value == "GET /text ")
            task.cancel()
            #expect(task.request.state == .finished)
            let other = session.request("\(url)/text").serializingString()
            other.cancel()
            #expect(await other.response.error?.name == "explicitly_cancelled")
        }
    }

    @Test func whatARequestIsTold() throws {
        try Session.run { [url] session async throws in
            let retrier = ScriptedInterceptor("X-Test")
            retrier.decisions = [.retry, .doNotRetry]
            let request = session.request("\(url)/missing").validate(statusCode: 200..<300).interceptor(retrier)
            #expect(request.summary == "No request created yet.")
            #expect(request.cURLDescription() == nil)
            #expect(await request.serializingData().response.attempts.count == 2)
            #expect(request.summary == "GET \(url)/missing (404)")
            #expect(request.cURLDescription()?.contains("'\(url)/missing'") == true)
            let moved = session.request("\(url)/moved").redirect(using: .doNotFollow)
            #expect(await moved.serializingResponse().response.response?.status == 302)
            let followed = session.request("\(url)/moved").validate(contentType: ["text/plain"])
                .validate { _, head in if head.status != 200 { throw Odd() } }
            #expect(try await followed.serializingString().value == "GET /text ")
        }
    }

    @Test func aRetriersWordIsTheError() throws {
        try Session.run { [url] session async throws in
            let retrier = ScriptedInterceptor()
            retrier.decisions = [.doNotRetryWithError(.scripted)]
            let task = session.request("\(url)/text", interceptor: Interceptor(interceptors: [retrier]))
                .serializingJSON()
            #expect(await task.response.error?.name == "request_retry_failed")
        }
    }
}

private struct Odd: Error {}

private struct XSSI: ResponseSerializer {
    let name = "odd"
    let isTyped = true

    func serialize(_ request: Request, completion: @escaping (Result<SerializedValue, SessionError>) -> Void) {
        completion(.failure(.scripted))
    }
}

extension Request {
    /// Sends it, and waits until its body waits behind its head.
    fileprivate func headersCome() async {
        parameters.holdsForHeaders = true
        resume()
        await withCheckedContinuation { continuation in whenHeadReceived { _ in continuation.resume() } }
    }
}

internal import CarpoolCaller
internal import CarpoolClient
internal import CarpoolJSON

extension PendingRequest {
    /// Waits until the request has finished, unless its record is known, and dismisses it.
    func complete(with record: JSON?, _ handle: (JSON) throws(Failure) -> ExitCode) throws(Failure) -> ExitCode {
        defer { dismiss() }
        if let record { return try handle(record) }
        return try handle(try wait())
    }

    /// Sends a body while it is read, if there is one, waits until the request has finished, and dismisses it. The
    /// closure handles the record; the cookies are written after it.
    func complete(
        _ source: StreamedBody?, for request: RequestArguments, _ handle: (JSON) throws(Failure) -> ExitCode
    ) throws(Failure) -> ExitCode {
        defer { dismiss() }
        var meter = request.meter
        if let source { try sendBody(source, &meter) }
        let record = try wait(meter)
        guard let cookieJar = request.cookies.jar else { return try handle(record) }
        try CookieOutput(cookieJar, self).after(record) { () throws(Failure) in _ = try handle(record) }
        return .success
    }
}

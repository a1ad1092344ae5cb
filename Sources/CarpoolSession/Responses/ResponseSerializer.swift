import CarpoolJSON

/// Makes a value of a response's body (RS-01 to RS-11).
public protocol ResponseSerializer {
    /// Its name in records and events: `none`, `data`, `string`, `json`, `plist`, `callback`.
    var name: String { get }
    /// Whether a failure is passed to the retriers (RL-16); not so for the plain handler, `none`, which never fails.
    var isTyped: Bool { get }
    /// Returns the value. Called only if the request has not failed before (RS-01); ``Request/response`` and
    /// ``Request/body`` hold the response. Answers once, now or later, on the session's loop.
    func serialize(_ request: Request, completion: @escaping (Result<SerializedValue, SessionError>) -> Void)
}

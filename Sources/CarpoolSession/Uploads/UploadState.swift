/// The state of the body that an upload sends.
final class UploadState {
    /// The source of the bytes; known when the body is created.
    var kind = CreatedUpload.Kind.data
    /// Throttles the progress events.
    var throttle = SendThrottle()
}

internal import CarpoolSystem

/// A descriptor on its way to a client: open until it is sent with its line, or until nobody can send it any more.
final class PassedDescriptor {
    let descriptor: FileDescriptor

    init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
}

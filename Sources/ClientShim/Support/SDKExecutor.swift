import Dispatch

/// The SDK's own threads (R-100-04). Its code may block on a disk or a key store there without holding
/// up a thread of the app's concurrency pool.
final class SDKExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "authn.sdk", attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
